"""The core of Python's SDK: what a benchmark's own file and a method get, in which order, and what is reported."""

from __future__ import annotations

import importlib
import json
import platform
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout


@pytest.fixture(scope="module")
def core(repository: Layout) -> Iterator[ModuleType]:
    """What all benchmarks stand on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(repository.methods / "_sdk" / "python")
        yield importlib.import_module("permafrost_sdk")
        sys.modules.pop("permafrost_sdk", None)


class Place:
    """The folders of one job, and what was done with it, in order."""

    def __init__(self, core: ModuleType, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.core, self.patch = core, patch
        self.inward, self.outward = folder / "in", folder / "out"
        self.did: list[Any] = []
        self.jobs: list[Any] = []
        self.report: dict[str, Any] = {"iterations": [7]}
        for name, path in {"IN": self.inward, "OUT": self.outward}.items():
            path.mkdir()
            patch.setenv(f"PERMAFROST_{name}", str(path))
        patch.delitem(sys.modules, "torch", raising=False)

    def write(self, inputs: dict[str, Any] | None = None, **told: Any) -> None:
        """A job with these inputs: arrays, or lists for JSON Lines."""
        described = {}
        for name, value in (inputs or {}).items():
            file = f"{name}.jsonl" if isinstance(value, list) else f"{name}.npy"
            if isinstance(value, list):
                (self.inward / file).write_text("".join(f"{json.dumps(one)}\n" for one in value))
            else:
                np.save(self.inward / file, value)
            described[name] = {"file": file}
        job = {"protocol": 1, "task": "predict", "seed": 5, "parameters": {}, "inputs": described, "trace": False}
        (self.inward / "job.json").write_text(json.dumps({**job, **told}))

    def begin(self, job: Any) -> Any:
        self.jobs.append(job)

        def problems() -> Iterator[str]:
            for name in ("first", "second"):
                self.did.append(("tell", name))
                yield name

        def report() -> dict[str, Any]:
            self.did.append("report")
            return dict(self.report)

        keep = lambda answer: self.did.append(("keep", answer))  # noqa: E731
        return SimpleNamespace(problems=problems, keep=keep, report=report)

    def fit(self, problem: str) -> str:
        self.did.append(("fit", problem, random.random(), float(np.random.rand())))
        return f"answer to {problem}"

    def perform(self) -> dict[str, Any]:
        self.did.clear()
        self.core.perform(self.begin, self.fit)
        content: dict[str, Any] = json.loads((self.outward / "method.json").read_text())
        return content


@pytest.fixture
def place(core: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    states = random.getstate(), np.random.get_state()
    yield Place(core, tmp_path, monkeypatch)
    random.setstate(states[0])
    np.random.set_state(states[1])


def draws(seed: int) -> tuple[float, float]:
    """The first number of each generator."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    return random.random(), float(np.random.rand())


def test_each_problem_is_fitted_and_kept_before_the_next(place: Place) -> None:
    place.write()
    report = place.perform()
    assert place.did == [
        ("tell", "first"),
        ("fit", "first", *draws(5)),
        ("keep", "answer to first"),
        ("tell", "second"),
        ("fit", "second", *draws(5)),
        ("keep", "answer to second"),
        "report",
    ]
    assert set(report) == {
        "cpu_seconds",
        "iterations",
        "peak_memory_bytes",
        "protocol",
        "seconds",
        "versions",
        "warnings",
    }
    assert (report["iterations"], report["protocol"], report["warnings"]) == ([7], 1, [])
    text = json.dumps(report, indent=1, sort_keys=True) + "\n"
    assert (place.outward / "method.json").read_text() == text


def test_a_job_is_what_was_written(place: Place) -> None:
    array = np.arange(4, dtype=np.int32).reshape(2, 2)
    place.write({"x": array, "y": ["a", {"b": [1]}]}, seed="12", parameters={"rank": 3}, trace=1)
    place.perform()
    (job,) = place.jobs
    np.testing.assert_array_equal(job.inputs["x"], array)
    assert job.inputs["y"] == ["a", {"b": [1]}] and list(job.inputs) == ["x", "y"]
    assert (job.seed, job.parameters, job.trace, job.out) == (12, {"rank": 3}, True, place.outward)
    place.patch.delenv("PERMAFROST_OUT")
    assert place.core._job().out == Path("/out")
    place.patch.delenv("PERMAFROST_IN")
    with pytest.raises(FileNotFoundError, match=r"'/in/job\.json'"):
        place.core._job()


def test_a_jobs_own_seed_gives_way_to_the_methods(place: Place) -> None:
    place.write(seed=2**32 + 2**31 + 3)
    place.perform()
    assert place.did[1] == ("fit", "first", *draws(2**32 + 2**31 + 3))
    for own in ("9", 0):
        place.write(seed=4, parameters={"fit_seed": own})
        place.perform()
        assert place.did[1] == ("fit", "first", *draws(int(own)))


def test_torch_is_seeded_where_a_method_uses_it(place: Place) -> None:
    seeds: list[int] = []
    torch = SimpleNamespace(__version__="2.1+cpu", manual_seed=seeds.append)
    place.patch.setitem(sys.modules, "torch", torch)
    place.patch.delenv("ATEN_CPU_CAPABILITY", raising=False)
    place.write(seed=2**33)
    own = {"python": platform.python_version(), "numpy": np.__version__}
    assert place.perform()["versions"] == {**own, "torch": "2.1+cpu", "kernels": "chosen by torch"}
    assert seeds == [2**33, 2**33]
    place.patch.setenv("ATEN_CPU_CAPABILITY", "default")
    assert place.perform()["versions"]["kernels"] == "default"
    place.patch.delitem(sys.modules, "torch")
    assert place.perform()["versions"] == own


def test_fitting_and_predicting_are_timed_apart(place: Place) -> None:
    clock = iter([10.0, 12.5, 13.0, 20.0, 21.0, 25.0])
    place.patch.setattr(place.core, "time", SimpleNamespace(perf_counter=clock.__next__))
    place.write()
    assert place.perform()["seconds"] == {"fit": [2.5, 1.0], "predict": [0.5, 4.0]}


def test_memory_and_time_are_those_of_the_process_and_its_children(place: Place) -> None:
    usage = {
        0: SimpleNamespace(ru_utime=1.0, ru_stime=2.0, ru_maxrss=10**12),
        -1: SimpleNamespace(ru_utime=4.0, ru_stime=8.0, ru_maxrss=300),
    }
    kernel = SimpleNamespace(getrusage=usage.__getitem__, RUSAGE_SELF=0, RUSAGE_CHILDREN=-1)
    place.patch.setattr(place.core, "resource", kernel)
    for own, peak in ((7, 307200), (307200, 307200), (307201, 307201)):
        place.patch.setattr(place.core, "_high_water_mark", lambda own=own: own)
        measured = place.core._measured()
        assert (measured["cpu_seconds"], measured["peak_memory_bytes"]) == (15.0, peak)


@pytest.mark.parametrize(("text", "peak"), [("VmPeak:\t 9 kB\nVmHWM:\t  12 kB\nVmRSS: 8 kB\n", 12288), ("", 0)])
def test_the_most_memory_is_the_kernels_own_count(place: Place, text: str, peak: int) -> None:
    asked = []

    def status(path: str) -> Any:
        asked.append(path)
        return SimpleNamespace(read_text=lambda **_: text)

    place.patch.setattr(place.core, "Path", status)
    assert place.core._high_water_mark() == peak and asked == ["/proc/self/status"]


def test_warnings_are_told_once_and_in_order(place: Place) -> None:
    def warn(problem: str) -> str:
        with np.errstate(all="warn"):
            np.log(np.zeros(1))
        warnings.warn("z", UserWarning, stacklevel=1)
        warnings.warn("a", UserWarning, stacklevel=1)
        return place.fit(problem)

    place.write()
    with warnings.catch_warnings():
        # whatever was asked for outside
        warnings.simplefilter("error")
        place.core.perform(place.begin, warn)
    assert json.loads((place.outward / "method.json").read_text())["warnings"] == [
        "RuntimeWarning: divide by zero encountered in log",
        "UserWarning: a",
        "UserWarning: z",
    ]


def test_a_notebook_is_given_the_first_problem_and_fits_nothing(place: Place) -> None:
    main = ModuleType("main")
    place.patch.setitem(sys.modules, "main", main)
    place.patch.setenv("PERMAFROST_NOTEBOOK", "/opt/method/main.py")
    place.write()
    place.core.perform(place.begin, place.fit)
    drawn = random.random(), float(np.random.rand())
    assert main.problem == "first" and main.fit_predict == place.fit
    assert place.did == [("tell", "first")] and list(place.outward.iterdir()) == []
    assert drawn == draws(5)


def golden(place: Place, **replays: Any) -> None:
    """What `harness parity` mounts beside the SDK."""
    module = ModuleType("golden")
    vars(module).update(replays)
    place.patch.setitem(sys.modules, "golden", module)


def test_a_golden_case_of_steps_leaves_traces_alone(place: Place) -> None:
    cases = []

    def steps(case: Any) -> dict[str, Any]:
        cases.append((case, random.random()))
        return {"W/first": np.zeros((2, 1, 3)), "k": 7.0}

    golden(place, steps=steps)
    place.write({"deep": np.ones((2, 2, 2)), "about": [json.dumps({"rank": 3})]}, task="steps")
    place.patch.setattr(place.core, "time", SimpleNamespace(perf_counter=iter([5.0, 7.0]).__next__))
    report = place.perform()
    ((case, drawn),) = cases
    assert list(case.arrays) == ["deep"] and case.arrays["deep"].shape == (2, 2, 2) and case.about == {"rank": 3}
    assert drawn == draws(5)[0]
    assert sorted(path.name for path in (place.outward / "trace").iterdir()) == ["W.first.npy", "k.npy"]
    assert np.load(place.outward / "trace" / "W.first.npy").shape == (2, 1, 3)
    assert (report["seconds"], report["iterations"]) == ({"fit": [2.0], "predict": []}, None)
    assert place.did == [] and place.jobs == []


def test_a_golden_case_of_a_whole_answer_is_a_job(place: Place) -> None:
    golden(place, whole=lambda problem: f"replay of {problem}")
    place.write(task="whole")
    assert place.perform()["iterations"] == [7]
    assert place.did == [
        ("tell", "first"),
        ("keep", "replay of first"),
        ("tell", "second"),
        ("keep", "replay of second"),
        "report",
    ]


def test_what_a_job_may_not_hold_is_refused(place: Place) -> None:
    place.write({"deep": np.ones((2, 2, 2))})
    with pytest.raises(ValueError, match=r"deep\.npy: <f8 with 3 dimensions is not part of the protocol"):
        place.perform()
    place.write(protocol=2)
    with pytest.raises(ValueError, match="the job speaks protocol 2, this method speaks 1"):
        place.perform()
    assert list(place.outward.iterdir()) == []


@pytest.mark.parametrize("kind", ["|i1", "|u1", "<i4", "<i8", "<f4", "<f8"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_arrays_of_the_protocol_are_written_as_any_language_reads_them(
    core: ModuleType, tmp_path: Path, kind: str, shape: tuple[int, ...]
) -> None:
    path, array = tmp_path / "x.npy", np.ones(shape, dtype=kind)
    core.write_npy(path, array)
    assert path.read_bytes()[:8] == b"\x93NUMPY\x01\x00"
    read = core.read_npy(path)
    assert (read.dtype.str, read.shape) == (kind, shape)
    np.testing.assert_array_equal(read, array)


@pytest.mark.parametrize("kind", [">f8", "<f2", "<u4", "<i2", "<c16", "|b1"])
def test_other_arrays_are_refused_both_ways(core: ModuleType, tmp_path: Path, kind: str) -> None:
    path, array = tmp_path / "x.npy", np.ones((2, 3), dtype=kind)
    with pytest.raises(ValueError, match="with 2 dimensions is not part of the protocol"):
        core.write_npy(path, array)
    assert not path.exists()
    np.save(path, array)
    with pytest.raises(ValueError, match="with 2 dimensions is not part of the protocol"):
        core.read_npy(path)
    np.save(path, np.asfortranarray(np.ones((2, 3))))
    with pytest.raises(ValueError, match=r"x\.npy: an array column by column is not part of the protocol"):
        core.read_npy(path)
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="pickle"):
        core.read_npy(path)


def test_lines_of_json_are_written_in_one_way(core: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    core.write_jsonl(path, iter([{"b": 1, "a": "é\u2028"}, "", None]))
    assert path.read_bytes().decode() == '{"a": "é\u2028", "b": 1}\n""\nnull\n'
    assert core.read_jsonl(path) == [{"b": 1, "a": "é\u2028"}, "", None]
    path.write_text("1\n\n2")
    assert core.read_jsonl(path) == [1, 2]
    with pytest.raises(ValueError, match="JSON compliant"):
        core.write_jsonl(path, [float("nan")])


def test_traces_are_named_by_their_goldens(place: Place) -> None:
    place.write()
    job = place.core._job()
    place.core.write_traces(job, {})
    assert not (place.outward / "trace").exists()
    place.core.write_traces(job, {"a/b/c": [[1.0, 2.0]], "d": np.zeros((1, 1, 1), dtype=np.float32)})
    assert np.load(place.outward / "trace" / "a.b.c.npy").tolist() == [[1.0, 2.0]]
    assert np.load(place.outward / "trace" / "d.npy").dtype == np.float32
