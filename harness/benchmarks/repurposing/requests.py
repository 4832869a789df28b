"""What a person may not ask for together, found before anything is started."""

from __future__ import annotations

from collections.abc import Mapping

from harness.base.errors import UsageError
from harness.base.manifests import Strict

_FOLDS = "inner_folds"


def check(parameters: Strict, options: Mapping[str, int]) -> None:
    """Refuse another number of inner models than the split has folds for."""
    there, wanted = getattr(parameters, _FOLDS, None), options[_FOLDS]
    if wanted == 1:
        raise UsageError(
            "a fold that is held out needs another one to learn from",
            where="--inner-folds 1",
            todo="ask for 0, which holds nothing out, or for 2 or more",
        )
    if there is not None and wanted not in (0, there):
        raise UsageError(
            f"the split has {there} inner folds, and the run wants {wanted}",
            where=f"--inner-folds {wanted}",
            todo=" or ".join(f"--inner-folds {count}" for count in sorted({0, there}))
            + f"; or a split with them, too: --split STRATEGY:{_FOLDS}={wanted} --inner-folds {wanted}",
        )
