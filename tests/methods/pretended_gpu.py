"""Runs in an image with torch: a method's main file on a GPU that is not there, to see what it would leave behind.

What is moved to `cuda`, or made there, says that it lies there, and is computed by this machine's processor. As on
a real one, an operation on tensors of both places fails, and NumPy can't read what was not brought back. At the
end it prints how many operations saw the GPU.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim import optimizer
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

METHOD = Path("/opt/method")
aten = torch.ops.aten
# torch asks no driver about the device on which other tensors have no numbers at all
CPU, GPU = torch.device("cpu"), torch.device("meta", 0)
# what brings tensors from one place to another
MOVES = (aten._to_copy.default, aten.copy_.default)
# rows of a tensor on a GPU may be chosen by numbers on the CPU
CHOICES = (aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default)


class OnGpu(Tensor):
    """A tensor whose numbers are said to lie on the GPU; `numbers` holds them, on the CPU."""

    numbers: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls: type[OnGpu], numbers: Tensor) -> OnGpu:
        strides = numbers.stride() if numbers.layout is torch.strided else None
        facts = {"strides": strides, "dtype": numbers.dtype, "device": GPU}
        one: OnGpu = Tensor._make_wrapper_subclass(cls, numbers.shape, **facts)
        one.numbers = numbers
        return one

    @classmethod
    def __torch_dispatch__(
        cls, operation: Any, types: Any, arguments: Sequence[Any] = (), options: Mapping[str, Any] | None = None
    ) -> Any:
        return computed(operation, arguments, dict(options or {}))


class CalledCuda(TorchFunctionMode):
    """The GPU goes by the name `cuda`."""

    def __torch_function__(
        self, function: Any, types: Any, arguments: Sequence[Any] = (), options: Mapping[str, Any] | None = None
    ) -> Any:
        # a device that a method holds keeps its name until it is used
        if function is torch.device:
            return function(*arguments, **(options or {}))
        arguments, options = tree_map(
            lambda one: GPU if isinstance(one, (str, torch.device)) and str(one) == "cuda" else one,
            (arguments, dict(options or {})),
        )
        # these are done without a word to the mode below
        if function is Tensor.tolist:
            return arguments[0].cpu().tolist()
        if function is Tensor.__getitem__ and isinstance(arguments[1], list):
            return arguments[0][torch.tensor(arguments[1])]
        if function in (torch.tensor, torch.as_tensor) and options.get("device") == GPU:
            return function(*arguments, **{**options, "device": CPU}).to(GPU)
        return function(*arguments, **options)


class Gpu(TorchDispatchMode):
    """Sees what makes tensors of nothing, too."""

    operations = 0

    def __torch_dispatch__(
        self, operation: Any, types: Any, arguments: Sequence[Any] = (), options: Mapping[str, Any] | None = None
    ) -> Any:
        return computed(operation, arguments, dict(options or {}))


def computed(operation: Any, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    """What an operation gives, in the place where a GPU would leave it."""
    leaves, shape = tree_flatten((arguments, options))
    there = [one for one in leaves if isinstance(one, OnGpu)]
    here = [one for one in leaves if isinstance(one, Tensor) and not isinstance(one, OnGpu)]
    if any(one.device == GPU for one in here):
        raise RuntimeError(f"{operation}: a tensor came to the GPU on a way that is not followed here")
    asked = options.get("device")
    on_gpu = torch.device(asked) == GPU if asked is not None else bool(there)
    chosen = operation in CHOICES and isinstance(arguments[0], OnGpu)
    if there and any(one.dim() for one in here) and operation not in MOVES and not chosen:
        raise RuntimeError(f"{operation}: expected all tensors to be on the same device, but found cuda and cpu")
    if operation is aten.copy_.default:
        on_gpu = isinstance(arguments[0], OnGpu)
    Gpu.operations += on_gpu
    of_numbers, options = tree_unflatten(
        [
            one.numbers if isinstance(one, OnGpu) else CPU if isinstance(one, torch.device) and one == GPU else one
            for one in leaves
        ],
        shape,
    )
    # in place, an operation gives back what it was given
    same = {id(one.numbers): one for one in there}
    # without gradients: they are kept of what stands for the numbers
    with torch.no_grad():
        results = operation(*of_numbers, **options)
        if any(one.shape != one.numbers.shape for one in there):
            # what stands for the numbers has a shape, too
            with no_dispatch():
                operation(*arguments, **options)
    if not on_gpu:
        return results

    def there_again(one: Any) -> Any:
        if not isinstance(one, Tensor):
            return one
        return same[id(one)] if id(one) in same else OnGpu(one)

    return tree_map(there_again, results)


def main() -> None:
    """Run /opt/method/main.py."""
    torch.cuda.is_available = lambda: True
    # what stands for numbers can't be made in the other mode without gradients
    torch.inference_mode = torch.no_grad
    torch.cuda.current_device = lambda: GPU
    optimizer._get_fused_kernels_supported_devices = lambda: ["cpu", GPU.type]
    # a parameter stays the same when it is moved, though what stands for it there is of another class
    torch.__future__.set_swap_module_params_on_conversion(True)
    # stand-ins can't be what this makes of tensors; the numbers are the same
    torch.inference_mode = torch.no_grad
    # fastai marks its batches by classes of its own
    as_subclass = Tensor.as_subclass
    torch.as_subclass = lambda one, kind: one if isinstance(one, OnGpu) else as_subclass(one, kind)
    sys.path[0] = str(METHOD)
    with CalledCuda(), Gpu():
        runpy.run_path(str(METHOD / "main.py"), run_name="__main__")
    sys.stdout.write(f"operations {Gpu.operations}\n")


if __name__ == "__main__":
    main()
