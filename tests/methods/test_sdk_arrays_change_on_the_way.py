"""Arrays keep every bit through each SDK's reader and writer, and what is no array of the protocol is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.npy import npy_bytes
from tests.methods.probes import LANGUAGES, Probe, make_probe

Array = npt.NDArray[np.generic]

DTYPES = ["|i1", "|u1", "<i4", "<i8", "<f4", "<f8"]
SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (3, 4), (4, 1), (1, 1), (0, 3), (0,)]
_COPY = {
    "python": "import sys; from pathlib import Path; from permafrost_sdk import *; "
    "write_npy(Path(sys.argv[2]), read_npy(Path(sys.argv[1])))",
    "r": 'suppressMessages(source(file.path(Sys.getenv("PERMAFROST_SDK"), "permafrost.R"))); '
    "given <- commandArgs(TRUE); shape <- as.integer(strsplit(given[4], ',')[[1]]); "
    "write_npy(given[2], read_npy(given[1]), given[3], shape)",
}


_COPY_LINES = {
    "python": "import sys; from pathlib import Path; from permafrost_sdk import *; "
    "write_jsonl(Path(sys.argv[2]), read_jsonl(Path(sys.argv[1])))",
    "r": 'suppressMessages(source(file.path(Sys.getenv("PERMAFROST_SDK"), "permafrost.R"))); '
    "given <- commandArgs(TRUE); write_jsonl(given[2], read_jsonl(given[1]))",
}


@pytest.fixture(params=LANGUAGES)
def probe(request: pytest.FixtureRequest, tmp_path: Path) -> Probe:
    return make_probe(request, request.param, tmp_path)


def copy(probe: Probe, source: Path, target: Path, descr: str, shape: tuple[int, ...]) -> str:
    """What went wrong when the SDK read `source` and wrote `target`; nothing, if all is well."""
    return _execute(probe, _COPY, source, target, descr, ",".join(map(str, shape)))


def _execute(probe: Probe, programs: Mapping[str, str], *arguments: object) -> str:
    program = [sys.executable, "-B", "-c"] if probe.language == "python" else ["Rscript", "--vanilla", "-e"]
    done = probe.execute([*program, programs[probe.language], *map(str, arguments)])
    return "" if done.returncode == 0 else done.stderr


def example(descr: str, shape: tuple[int, ...]) -> Array:
    """Extreme values first, then others."""
    dtype = np.dtype(descr)
    count = int(np.prod(shape))
    if dtype.kind == "f":
        small = float(np.finfo(dtype).smallest_subnormal)
        values = np.array([np.nan, np.inf, -np.inf, small, np.finfo(dtype).max, 1 / 3, -2.5e-7, 0.1])
    else:
        limits = np.iinfo(dtype)
        low, high = max(limits.min, -(2**53)), min(limits.max, 2**53)
        values = np.array([low, high, 0, 1, low + 1, high - 1, 5, 100], dtype=np.int64)
    return np.resize(values, count).astype(dtype).reshape(shape)


@pytest.mark.parametrize("descr", DTYPES)
def test_every_bit_survives(probe: Probe, tmp_path: Path, descr: str) -> None:
    for number, shape in enumerate(SHAPES):
        array = example(descr, shape)
        source, target = tmp_path / f"{number}.npy", tmp_path / f"{number}-copy.npy"
        source.write_bytes(npy_bytes(array) if shape else _scalar(array))
        assert copy(probe, source, target, descr, shape) == ""
        found = np.load(target)
        assert found.dtype.str == descr
        assert found.shape == shape
        np.testing.assert_array_equal(found, array)
        assert found.flags.c_contiguous


def test_rows_are_not_taken_for_columns(probe: Probe, tmp_path: Path) -> None:
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    np.save(tmp_path / "rows.npy", array)
    assert copy(probe, tmp_path / "rows.npy", tmp_path / "copy.npy", "<i4", (3, 4)) == ""
    np.testing.assert_array_equal(np.load(tmp_path / "copy.npy"), array)


@pytest.mark.parametrize("fault", ["columns", "three dimensions", "complex", "cut", "big endian", "text"])
def test_what_is_no_array_of_the_protocol_is_refused(probe: Probe, tmp_path: Path, fault: str) -> None:
    path = tmp_path / "wrong.npy"
    array = np.arange(12.0).reshape(3, 4)
    if fault == "columns":
        np.save(path, np.asfortranarray(array))
    elif fault == "three dimensions":
        np.save(path, array.reshape(3, 2, 2))
    elif fault == "complex":
        np.save(path, array.astype(complex))
    elif fault == "big endian":
        np.save(path, array.astype(">f8"))
    elif fault == "cut":
        path.write_bytes(npy_bytes(array)[:-3])
    else:
        path.write_text("1 2 3\n")
    assert copy(probe, path, tmp_path / "copy.npy", "<f8", (3, 4)) != ""
    assert not (tmp_path / "copy.npy").exists()


def test_a_value_of_json_lines_is_another_afterwards(probe: Probe, tmp_path: Path) -> None:
    values = ['h\u00e9 "said"\u2028 \\n', {"name": "a", "spans": [[0, 4]], "none": []}, [1, 2.5, None, True], ""]
    source, target = tmp_path / "values.jsonl", tmp_path / "copy.jsonl"
    source.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
    assert _execute(probe, _COPY_LINES, source, target) == ""
    assert [json.loads(line) for line in target.read_text(encoding="utf-8").split("\n") if line] == values


def _scalar(array: Array) -> bytes:
    """The harness's own writer has no scalars."""
    import io

    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()
