"""Errands on their way to a worker, packed: the scheduler between need not read them, nor know the harness."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.execution.errands import Errand, Return


def pack(errands: Sequence[Errand]) -> bytes:
    """What `carry_out_each` is given."""
    return pickle.dumps(tuple(errands))


def carry_out_each(parcel: bytes) -> list[Return]:
    """Carry out errands one after the other, on a worker; none after one that the machine failed."""
    from distributed import get_worker

    # imported here: the scheduler imports this module, and the harness takes it longer than a hundred runs
    from harness.execution.errands import Return, carry_out

    address, backs = str(get_worker().address), list[Return]()
    for errand in pickle.loads(parcel):
        backs.append(replace(carry_out(errand), worker=address))
        if backs[-1].is_of_machine:
            break
    return backs
