"""Products of dense matrices on the library that is the fastest on any maker's processors.

Torch multiplies with MKL, which on some makers' processors leaves half of each vector unit idle; oneDNN, which
torch carries too, does not. Both are of single precision.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

_ONEDNN = torch.backends.mkldnn.is_available()


def product(left: Tensor, right: Tensor) -> Tensor:
    """left @ right, without gradients."""
    if left.is_cuda or not _ONEDNN:
        return left @ right
    # oneDNN is slow where neither rows nor columns lie side by side
    tidy = (one if one.is_contiguous() or one.T.is_contiguous() else one.contiguous() for one in (left, right.T))
    return cast(Tensor, torch.ops.mkldnn._linear_pointwise(*tidy, None, "none", [], ""))


def multiply(left: Tensor, right: Tensor) -> Tensor:
    """left @ right, with gradients for either that wants them."""
    return cast(Tensor, _Multiply.apply(left, right))  # type: ignore[no-untyped-call]


class _Multiply(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, left: Tensor, right: Tensor) -> Tensor:
        context.save_for_backward(left, right)
        return product(left, right)

    @staticmethod
    def backward(  # type: ignore[override]
        context: Any, gradient: Tensor
    ) -> tuple[Tensor | None, Tensor | None]:
        left, right = context.saved_tensors
        wanted = context.needs_input_grad
        return (
            product(gradient, right.T) if wanted[0] else None,
            # turned round, because oneDNN copies a left matrix that lies the other way, and this one is smaller
            product(gradient.T, left).T if wanted[1] else None,
        )
