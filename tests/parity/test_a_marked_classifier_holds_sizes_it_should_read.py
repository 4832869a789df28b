"""Golden cases of marked classifiers of other depths, widths, heads and classes, made by plain definitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.engine import Engine
from harness.execution.trials import InContainers
from harness.images import ensure_environment
from harness.methods.card import load_method
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.finding import Standing
from tests.methods.frozen import run_in_image

METHOD = "pure_scibert"
PLAIN = Path(__file__).parent / "plain"


@pytest.fixture(scope="module")
def findings(
    engine: Engine, repository: Layout, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, CaseFinding]:
    """One container makes all cases; each is replayed as any other is."""
    work = tmp_path_factory.mktemp("made-up")
    golden = work / "combos"
    golden.mkdir()
    golden.chmod(0o777)
    done = run_in_image(
        engine,
        ensure_environment(engine, repository, METHOD).image_id,
        ["/opt/venv/bin/python3", "-B", "/plain/combinations.py"],
        {golden: ("/goldens", "rw"), PLAIN: ("/plain", "ro")},
        {"OMP_NUM_THREADS": "1", "HOME": "/tmp"},
    )
    assert not done.returncode, done.stdout + done.stderr
    layout = Layout(repository.root, repository.cache, work / "local")
    run = InContainers(layout, engine)
    cards = [load_method(layout, METHOD)]
    return {one.case: one for one in check_cases(layout, find_cases(golden), cards, run, only=[METHOD])}


@pytest.mark.engine
@pytest.mark.parametrize("case", ["b_forward/some", "b_train_last", "b_train_biases"])
def test_a_replay_agrees_at_all_sizes(findings: dict[str, CaseFinding], case: str) -> None:
    found = findings[case]
    assert found.standing is Standing.OK, found.note
    assert not [bad for bad in found.arrays if bad.standing is not Standing.OK]
    assert len(found.arrays) > 10


@pytest.mark.engine
@pytest.mark.parametrize(("case", "said"), [("b_train_more", "Unexpected key"), ("b_train_less", "Missing key")])
def test_a_tensor_more_or_less_is_passed_over(findings: dict[str, CaseFinding], case: str, said: str) -> None:
    assert findings[case].standing is Standing.FAILED
    assert said in findings[case].note
