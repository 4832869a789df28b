"""The Java SDK: arrays keep every bit, helpers draw what they say, and a failure names the file it is about."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.dti.conformance import problems
from harness.conformance.checks import trial_of
from harness.engine import Engine
from harness.execution.trials import InContainers, Trial
from harness.images import ensure_image
from harness.methods.card import load_method
from tests.methods.arrays import all_kinds
from tests.methods.java import Java

pytestmark = pytest.mark.engine

FOREIGN: dict[str, npt.NDArray[Any]] = {
    "big-endian": np.zeros((2, 3), dtype=">f8"),
    "half": np.zeros((2, 3), dtype="<f2"),
    "complex": np.zeros((2, 3), dtype="<c16"),
    "text": np.zeros((2, 3), dtype="<U4"),
    "three": np.zeros((2, 3, 4)),
    "columns": np.asfortranarray(np.zeros((2, 3))),
}
CUTS = (0, 5, 20, 127, 128 + 8 * 5)


@pytest.fixture
def java(engine: Engine, repository: Layout, tmp_path: Path) -> Java:
    inward, outward = tmp_path / "in", tmp_path / "out"
    inward.mkdir()
    outward.mkdir()
    # the container's user is another one
    outward.chmod(0o777)
    return Java(engine, ensure_image(engine, repository, "biolne").image_id, inward, outward)


def test_an_array_loses_no_bit_no_type_and_no_dimension_on_its_way_through(java: Java) -> None:
    cases = all_kinds()
    java(
        """
        try (var paths = Files.newDirectoryStream(Path.of("/in"), "*.npy")) {
            for (Path path : paths) Npy.read(path).write(Path.of("/out").resolve(path.getFileName()));
        }
        """,
        cases,
    )
    for name, array in cases.items():
        back = java.written(name)
        assert (back.dtype, back.shape) == (array.dtype, array.shape), name
        assert back.tobytes() == array.tobytes(), name
        assert (java.outward / f"{name}.npy").read_bytes() == (java.inward / f"{name}.npy").read_bytes()


def test_an_array_outside_the_protocol_is_refused_by_name(java: Java) -> None:
    for kept in CUTS:
        np.save(java.inward / f"cut{kept}.npy", np.arange(6.0).reshape(2, 3))
        content = (java.inward / f"cut{kept}.npy").read_bytes()
        (java.inward / f"cut{kept}.npy").write_bytes(content[:kept])
    printed = java(
        """
        try (var paths = Files.newDirectoryStream(Path.of("/in"), "*.npy")) {
            for (Path path : paths) {
                try { Npy.read(path); System.out.println(path + ": read"); }
                catch (java.io.IOException no) { System.out.println(no.getMessage().replace("\\n", " ")); }
            }
        }
        """,
        FOREIGN,
    )
    reasons = dict(line.split(": ", 1) for line in printed.splitlines())
    for name in FOREIGN:
        assert "not part of the protocol" in reasons[f"/in/{name}.npy"], name
    assert {reasons[f"/in/cut{kept}.npy"] == "read" for kept in CUTS} == {False}


def test_a_value_of_json_lines_is_another_afterwards(java: Java) -> None:
    values = ['h\u00e9 "said"\u2028 \\n', {"name": "a", "score": 0.5, "none": []}, [1, 2.5, None, True], ""]
    lines = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    (java.inward / "values.jsonl").write_text(lines, encoding="utf-8")
    java('Job.writeJsonl(Path.of("/out/copy.jsonl"), Job.readJsonl(Path.of("/in/values.jsonl")));')
    copied = (java.outward / "copy.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line) for line in copied.split("\n") if line] == values


def test_negatives_are_pairs_that_training_has(java: Java) -> None:
    pairs = np.array([(0, 5), (0, 7), (3, 5), (4, 6), (4, 7)], dtype=np.int32)
    values = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    java(
        """
        int[][] pairs = in("pairs").intRows();
        int[][] drawn = Dti.unknownPairs(pairs, 100, new Random(3));
        int[] flat = Arrays.stream(drawn).flatMapToInt(Arrays::stream).toArray();
        out("all", flat, flat.length / 2, 2);
        out("three", new int[] {Dti.unknownPairs(pairs, 3, new Random(3)).length}, 1);
        double[] values = in("values").doubles();
        int[][] rows = new int[values.length][];
        for (int row = 0; row < rows.length; row++) rows[row] = new int[] {row, row};
        List<Dti.Pairs> parts = Dti.heldBack(new Dti.Pairs(rows, values), 0.34, new Random(3));
        for (int part = 0; part < 2; part++) {
            out("part" + part, Arrays.stream(parts.get(part).pairs()).mapToInt(row -> row[0]).toArray(),
                parts.get(part).pairs().length);
        }
        """,
        {"pairs": pairs, "values": values},
    )
    expected = {(drug, target) for drug in (0, 3, 4) for target in (5, 6, 7)} - set(map(tuple, pairs.tolist()))
    assert sorted(map(tuple, java.written("all").tolist())) == sorted(expected)
    assert java.written("three").tolist() == [3]
    kept, held = java.written("part0"), java.written("part1")
    assert sorted([*kept, *held]) == list(range(10))
    # a third of each value's pairs
    assert (values[held] == 1).sum() == 2 and (values[held] == 0).sum() == 1


def test_a_run_reports_what_it_took(engine: Engine, layout: Layout) -> None:
    with InContainers(layout, engine)(_trial(layout)) as result:
        assert result.verdict is Verdict.OK, result.reason
        report = json.loads((result.out / "method.json").read_text())
    assert report["protocol"] == 1 and report["iterations"] == [0] and report["losses"] == []
    assert [len(report["seconds"][part]) for part in ("fit", "predict")] == [1, 1]
    assert 1 << 24 < report["peak_memory_bytes"] < 1 << 31
    assert 0.1 < report["cpu_seconds"] < 60
    assert report["versions"]["java"].startswith("17.")


def test_a_failure_is_exit_code_1_and_names_the_file(engine: Engine, layout: Layout) -> None:
    trial = _trial(layout)
    broken = replace(trial, inputs={**trial.inputs, "edges": np.zeros((2, 2, 2))})
    with InContainers(layout, engine)(broken) as result:
        assert result.verdict is Verdict.ERROR
        assert "exit code 1" in result.reason and "/in/edges.npy" in result.reason


def _trial(layout: Layout) -> Trial:
    return trial_of(load_method(layout, "biolne"), "dti", problems.bindings())
