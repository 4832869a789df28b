"""What computes on a GPU is another run than on the CPU, says so everywhere, and is refused where it can't be."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base.errors import EngineError, ImageError, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import group
from harness.data import load_manifest
from harness.engine import Engine
from harness.engine.facts import EngineFacts, read_facts
from harness.execution.gpus import Gpu, confirm_gpu, engine_lends_gpus, find_gpus, usable_gpus
from harness.execution.tasks import limits_of
from harness.images import ensure_image
from harness.images.cards import environment_chain
from harness.images.record import recorded_tree
from harness.methods.card import load_method, load_methods
from harness.planning.budget import Share
from harness.planning.jobs import Job, make_job, on_accelerator
from harness.planning.obstacles import ObstacleNotes, Obstacles
from harness.planning.plan import make_plan
from harness.splits.spec import parse_split
from harness.status.table import row_name
from tests.core.word_for_word import said
from tests.fabricate import job_of

DOCKER = read_facts({}, {"Runtimes": {"nvidia": {}}}, api_version="1.41", socket="/run/engine.sock")
WITHOUT_RUNTIME = read_facts({}, {}, api_version="1.41", socket="/run/engine.sock")


def _drug_job(layout: Layout) -> Job:
    return make_job(load_method(layout, "mlp"), load_manifest(layout, "synthetic_ddi"), parse_split("random", 1))


def _driver_tells(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_every_method_that_computes_on_a_gpu_has_a_cuda_environment(repository: Layout) -> None:
    able = [card.name for card in load_methods(repository) if card.cuda]
    assert "mlp" in able
    for name in able:
        assert recorded_tree(repository, name, "cuda") != recorded_tree(repository, name), name
        assert any(environment.supports("cuda") for environment in environment_chain(repository, name)), name


def test_a_run_on_a_gpu_is_another_run_and_says_so(layout: Layout) -> None:
    usual = _drug_job(layout)
    (job,) = on_accelerator(layout, [usual], "cuda")
    on_cpu, on_gpu = make_plan(layout, "both", [usual, job]).cells
    assert on_cpu.planned and on_gpu.planned and on_cpu.planned.key != on_gpu.planned.key
    # even where a card claims a GPU for an environment that has nothing of CUDA
    of_gpu = on_cpu.planned.model_copy(update={"job": job})
    assert of_gpu.image_tree == on_cpu.planned.image_tree and of_gpu.key != on_cpu.planned.key
    assert "[cuda]" in job.label and "[cuda]" not in usual.label
    assert (row_name(usual, {}), row_name(job, {})) == ("mlp", "mlp [cuda]")


def test_it_is_lent_one_gpu_and_the_memory_that_cuda_takes(layout: Layout) -> None:
    usual, card = (load_method(layout, "mlp").of_variant("published", which) for which in ("cpu", "cuda"))
    assert limits_of(usual).gpus == () and limits_of(card).gpus == ("0",)
    assert limits_of(card, ("3",)).gpus == ("3",)
    assert card.resources.memory_bytes == usual.resources.memory_bytes + (4 << 30)
    assert Share.of(card.resources).gpus == 1


def test_methods_without_a_use_for_a_gpu_stay_on_the_cpu(layout: Layout) -> None:
    drug, matrix = _drug_job(layout), job_of(layout, "als_wr", 1)
    assert [job.accelerator for job in on_accelerator(layout, [drug, matrix], "cuda")] == ["cuda", "cpu"]
    assert on_accelerator(layout, [matrix], "cpu") == [matrix]
    with pytest.raises(UsageError, match="als_wr: no method of these computes on a GPU"):
        on_accelerator(layout, [matrix], "cuda")


def test_what_stands_before_one_accelerator_does_not_stand_before_the_other(layout: Layout) -> None:
    usual = _drug_job(layout)
    (job,) = on_accelerator(layout, [usual], "cuda")
    Obstacles(layout.runs).note("method", "mlp-cuda", "no wheel")
    assert ObstacleNotes.of(layout.runs).before(job) == (Verdict.INFRASTRUCTURE, "no wheel")
    assert ObstacleNotes.of(layout.runs).before(usual) is None


def test_gpus_are_read_from_the_drivers_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _driver_tells(
        monkeypatch,
        tmp_path,
        "echo '0, GPU-5f, NVIDIA H100, 9.0'; echo '1, GPU-a0, NVIDIA A100, with a comma, 8.0'",
    )
    assert find_gpus() == [
        Gpu("NVIDIA H100", "9.0", "0"),
        Gpu("NVIDIA A100, with a comma", "8.0", "1"),
    ]
    _driver_tells(monkeypatch, tmp_path, "echo 'No devices were found, at all'; exit 9")
    assert find_gpus() == []


def test_the_drivers_tool_is_asked_for_what_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _driver_tells(monkeypatch, tmp_path, 'echo "0, GPU-5f, $*, 9.0"; echo noise >&2')
    asked = "--query-gpu=index,uuid,name,compute_cap --format=csv,noheader"
    assert find_gpus() == [Gpu(asked, "9.0", "0")]
    assert Gpu("H100", "9.0") == Gpu("H100", "9.0", "0")


def test_a_tool_that_is_broken_or_hangs_finds_no_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _driver_tells(monkeypatch, tmp_path, "exit 0")
    (tmp_path / "nvidia-smi").write_bytes(b"\x7fELF, cut")
    assert find_gpus() == []
    limits = list[float]()

    def hang(*_: object, timeout: float, **__: object) -> None:
        limits.append(timeout)
        raise subprocess.TimeoutExpired("nvidia-smi", timeout)

    monkeypatch.setattr(subprocess, "run", hang)
    assert find_gpus() == [] and limits == [20]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert find_gpus() == [] and limits == [20]


def test_why_no_gpu_can_be_used_is_told_word_for_word(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _driver_tells(monkeypatch, tmp_path, "exit 9")
    with pytest.raises(EngineError) as none:
        usable_gpus(layout, DOCKER, ["mlp"])
    assert said(none.value) == (
        "no NVIDIA GPU is found here",
        "nvidia-smi",
        "install the driver, or run on the CPU (--accelerator cpu), which is the reference",
    )
    _driver_tells(monkeypatch, tmp_path, "echo '0, GPU-5f, NVIDIA H100, 9.0'")
    with pytest.raises(EngineError) as unlent:
        usable_gpus(layout, WITHOUT_RUNTIME, ["mlp"])
    assert said(unlent.value) == (
        "docker cannot hand a GPU to a container",
        "its runtimes at /run/engine.sock",
        "install the NVIDIA container toolkit, or run on the CPU (--accelerator cpu)",
    )
    podman = replace(WITHOUT_RUNTIME, name="podman")
    assert engine_lends_gpus(podman) and engine_lends_gpus(DOCKER) and not engine_lends_gpus(WITHOUT_RUNTIME)
    assert [gpu.number for gpu in usable_gpus(layout, podman, iter(["mlp"]))] == ["0"]
    # of several that can't, the first says why; a method that has no such environment is named
    _driver_tells(monkeypatch, tmp_path, "echo '0, GPU-80, Tesla K80, 3.7'; echo '1, GPU-90, Old, 2.0'")
    with pytest.raises(UsageError, match=r"compute capability 3\.7"):
        usable_gpus(layout, DOCKER, ["mlp"])
    with pytest.raises(UsageError, match="environment 'als_wr' has no CUDA variant"):
        usable_gpus(layout, DOCKER, ["als_wr", "mlp"])


@pytest.mark.parametrize(
    ("tells", "facts", "message"),
    [
        ("exit 9", DOCKER, "no NVIDIA GPU is found"),
        ("echo '0, GPU-5f, NVIDIA H100, 9.0'", WITHOUT_RUNTIME, "docker cannot hand a GPU to a container"),
        ("echo '0, GPU-80, Tesla K80, 3.7'", DOCKER, r"compute capability 3\.7.*'_torch'"),
    ],
)
def test_a_gpu_that_cannot_be_used_is_told_before_anything_runs(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tells: str, facts: EngineFacts, message: str
) -> None:
    _driver_tells(monkeypatch, tmp_path, tells)
    with pytest.raises((EngineError, UsageError), match=message) as refused:
        usable_gpus(layout, facts, ["mlp"])
    assert "--accelerator cpu" in refused.value.todo


def test_one_that_can_be_used_is_accepted(layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _driver_tells(monkeypatch, tmp_path, "echo '0, GPU-5f, NVIDIA H100, 9.0'")
    assert [gpu.number for gpu in usable_gpus(layout, DOCKER, ["mlp"])] == ["0"]
    with pytest.raises(UsageError, match="environment 'als_wr' has no CUDA variant"):
        usable_gpus(layout, DOCKER, ["als_wr"])


def test_of_several_only_those_that_can_are_lent(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tells = (
        "echo '0, GPU-80, Tesla K80, 3.7'; echo '1, GPU-5f, NVIDIA H100, 9.0'; echo '2, GPU-60, NVIDIA H100, 9.0'"
    )
    _driver_tells(monkeypatch, tmp_path, tells)
    assert [gpu.number for gpu in usable_gpus(layout, DOCKER, ["mlp"])] == ["1", "2"]


@pytest.mark.parametrize(
    ("visible", "numbers"),
    [
        ("1", ["1"]),
        ("2,0", ["2", "0"]),
        ("GPU-5f", ["1"]),
        ("GPU-5", ["1"]),
        ("GPU-5f0", []),
        ("5f", []),
        (" 0 , 1 ", ["0", "1"]),
        ("1,7,2", ["1"]),
        ("0,0", ["0"]),
        ("", []),
        ("-1", []),
    ],
)
def test_the_gpus_of_other_jobs_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, visible: str, numbers: list[str]
) -> None:
    _driver_tells(monkeypatch, tmp_path, 'for n in 0 1 2; do echo "$n, GPU-$((n + 4))f, H100, 9.0"; done')
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [gpu.number for gpu in find_gpus()] == numbers


@pytest.mark.parametrize("visible", ["NoDevFiles", "", "-1"])
def test_gpus_that_a_variable_hides_are_told_with_it(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, visible: str
) -> None:
    _driver_tells(monkeypatch, tmp_path, "echo '0, GPU-5f, NVIDIA H100, 9.0'; echo '1, GPU-60, NVIDIA H100, 9.0'")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with pytest.raises(EngineError) as hidden:
        usable_gpus(layout, DOCKER, ["mlp"])
    assert said(hidden.value) == (
        "CUDA_VISIBLE_DEVICES names none of the 2 NVIDIA GPUs that are here",
        f"CUDA_VISIBLE_DEVICES={visible}",
        "ask your queue for a GPU, unset the variable where none gives you any, or run on the CPU "
        "(--accelerator cpu), which is the reference",
    )


def test_a_gpu_is_not_named_by_the_beginning_of_its_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _driver_tells(monkeypatch, tmp_path, 'for n in 0 10; do echo "$n, GPU-$((n + 4))f, H100, 9.0"; done')
    for visible, numbers in (("1", []), ("10", ["10"])):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert [gpu.number for gpu in find_gpus()] == numbers


@pytest.mark.engine
def test_an_image_that_finds_no_gpu_is_not_run_on_the_cpu_instead(
    repository: Layout, layout: Layout, engine: Engine
) -> None:
    image = ensure_image(engine, repository, "mlp")
    with pytest.raises(ImageError, match="can't compute on the GPU") as refused:
        confirm_gpu(engine, layout, image, limits_of(load_method(repository, "mlp")))
    assert "CUDA" in refused.value.where


@pytest.mark.engine
def test_a_person_without_one_is_told_and_no_cell_is_blamed(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if find_gpus():
        pytest.skip("this machine has a GPU")
    monkeypatch.setenv("PERMAFROST_RESULTS", str(layout.local))
    words = ["run", "--method", "mlp", "--dataset", "synthetic_ddi", "--seed", "1", "--accelerator", "cuda"]
    with pytest.raises(EngineError, match="no NVIDIA GPU is found here"):
        CliRunner().invoke(group, words, standalone_mode=False, catch_exceptions=False)
    assert ObstacleNotes.of(layout.runs) == ObstacleNotes({}, {}, {}, {})
