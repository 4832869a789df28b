"""The NVIDIA GPUs of this machine, and whether a method's CUDA image can be run on them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import EngineError, ImageError, UsageError
from harness.base.layout import Layout
from harness.base.logs import log_tail
from harness.base.ownership import own_folder
from harness.base.plurals import counted
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.engine.facts import EngineFacts
from harness.execution.runs import INIT, Limits, RunRequest, execute
from harness.images import BuiltImage, refuse_unless_usable
from harness.images.cards import environment_chain

# A method computes on the CPU where it finds no GPU, so this is asked first, in its own image.
_QUESTION = "import torch; torch.ones(1, device='cuda').sum().item()"
_SECONDS = 300
# How a queue tells a job its GPUs.
_VISIBLE = "CUDA_VISIBLE_DEVICES"
# Length of torch's message that is kept.
_MESSAGE_BYTES = 1000


@dataclass(frozen=True)
class Gpu:
    """One device, as the driver's tool tells it."""

    name: str
    # such as 9.0
    capability: str
    # its number, by which engines hand it out
    number: str = "0"


def find_gpus() -> list[Gpu]:
    """Every GPU that this process may use, in the driver's order; empty where there is none or no driver's tool.

    A queue tells a job its own by $CUDA_VISIBLE_DEVICES: the others belong to somebody else.
    """
    return _visible(_gpus_by_uuid(), os.environ.get(_VISIBLE))


def _gpus_by_uuid() -> dict[str, Gpu]:
    """Every GPU that the driver's tool tells of, whosever it is."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return {}
    command = [program, "--query-gpu=index,uuid,name,compute_cap", "--format=csv,noheader"]
    try:
        completion = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    every: dict[str, Gpu] = {}
    for line in completion.stdout.splitlines() if completion.returncode == 0 else ():
        number, _, rest = line.partition(", ")
        uuid, _, rest = rest.partition(", ")
        # a name may hold commas
        name, _, capability = rest.rpartition(", ")
        every[uuid] = Gpu(name, capability, number)
    return every


def _visible(every: dict[str, Gpu], names: str | None) -> list[Gpu]:
    """Those that the variable names, by number or by the beginning of their UUID; without it all."""
    if names is None:
        return list(every.values())
    own: dict[Gpu, None] = {}
    for name in filter(None, map(str.strip, names.split(","))):
        gpu = next((gpu for uuid, gpu in every.items() if name == gpu.number or uuid.startswith(name)), None)
        if gpu is None:
            # as CUDA does: what stands behind a name that is of none does not count
            break
        own[gpu] = None
    return list(own)


def engine_lends_gpus(facts: EngineFacts) -> bool:
    """Whether the engine can hand a GPU to a container. Podman tells only when it is asked for one."""
    return facts.name == "podman" or facts.gpu_runtime


def usable_gpus(layout: Layout, facts: EngineFacts, methods: Iterable[str]) -> list[Gpu]:
    """The GPUs here on which the CUDA images of all these methods can be run; raises where there is none."""
    gpus = find_gpus()
    if not gpus and (others := _gpus_by_uuid()):
        raise EngineError(
            f"{_VISIBLE} names none of the {counted(len(others), 'NVIDIA GPU')} that are here",
            where=f"{_VISIBLE}={os.environ.get(_VISIBLE, '')}",
            todo="ask your queue for a GPU, unset the variable where none gives you any, or run on the CPU "
            "(--accelerator cpu), which is the reference",
        )
    if not gpus:
        raise EngineError(
            "no NVIDIA GPU is found here",
            where="nvidia-smi",
            todo="install the driver, or run on the CPU (--accelerator cpu), which is the reference",
        )
    if not engine_lends_gpus(facts):
        raise EngineError(
            f"{facts.name} cannot hand a GPU to a container",
            where=f"its runtimes at {facts.socket}",
            todo="install the NVIDIA container toolkit, or run on the CPU (--accelerator cpu)",
        )
    names, refusals = list(methods), dict[Gpu, UsageError]()
    for gpu in gpus:
        try:
            _refuse_unless_usable(layout, gpu, names)
        except UsageError as refused:
            refusals[gpu] = refused
    if len(refusals) == len(gpus):
        raise next(iter(refusals.values()))
    return [gpu for gpu in gpus if gpu not in refusals]


def _refuse_unless_usable(layout: Layout, gpu: Gpu, methods: Iterable[str]) -> None:
    for method in methods:
        chain = environment_chain(layout, method)
        # a method whose environments have no such variant is refused by its own
        for environment in [one for one in chain if one.supports("cuda")] or chain[-1:]:
            refuse_unless_usable(environment.card, name=environment.name, capability=gpu.capability)


def confirm_gpu(engine: Engine, layout: Layout, image: BuiltImage, limits: Limits) -> None:
    """Raise unless a container of this image, with a run's limits, computes on the GPU that it is handed."""
    work = layout.local / "work"
    with tempfile.TemporaryDirectory(dir=own_folder(work), prefix="in-") as folder:
        request = RunRequest(
            image=image.name,
            image_id=image.image_id,
            in_folder=Path(folder),
            work=work,
            limits=replace(limits, seconds=_SECONDS),
            entrypoint=(*INIT, "/opt/venv/bin/python3", "-c"),
            command=(_QUESTION,),
            required=(),
            expected=(),
        )
        outcome = execute(engine, request)
        try:
            if outcome.verdict is not Verdict.OK:
                raise ImageError(
                    f"a container of {image.name} can't compute on the GPU: {outcome.reason}",
                    where=log_tail(outcome.log, _MESSAGE_BYTES),
                    todo="compare the driver with the CUDA version of the image's torch, "
                    "or run on the CPU (--accelerator cpu)",
                )
        finally:
            outcome.discard()
