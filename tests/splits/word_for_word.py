"""What tests of splits need that compare what is said word for word."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.errors import HarnessError

Codes = npt.NDArray[np.int32]
Told = tuple[str, str, str]


def told(do: Any) -> Told:
    """What, where and what to do of the error that this raises."""
    with pytest.raises(HarnessError) as caught:
        do()
    return caught.value.what, caught.value.where, caught.value.todo


def codes(*values: int) -> Codes:
    """These numbers as arrays hold them."""
    return np.array(values, dtype=np.int32)
