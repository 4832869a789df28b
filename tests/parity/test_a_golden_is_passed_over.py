"""Every file of a golden folder is checked or named, and a folder without any is an error."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from harness.base.errors import CorruptData, ManifestError, UsageError
from harness.base.layout import Layout
from harness.cli import group
from harness.methods.card import MethodCard, ParityTable, Tolerance
from harness.parity import check_cases, find_cases
from harness.parity.cases import matches_of
from harness.parity.finding import Standing
from tests.parity.conftest import Answers, save


def test_a_case_without_a_method_is_named(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers
) -> None:
    np.savez(golden / "unknown_Small_12.npz", x=np.zeros(1))
    found = {finding.case: finding.worst for finding in check_cases(layout, find_cases(golden), [card], answers)}
    assert found == {"toy_Small_12": Standing.OK, "unknown_Small_12": Standing.NOT_IMPLEMENTED}


def test_features_are_no_case(golden: Path) -> None:
    assert [case.name for case in find_cases(golden)] == ["toy_Small_12"]


def test_a_parent_folder_is_taken_apart(tmp_path: Path, golden: Path) -> None:
    shutil.move(golden, tmp_path / "all" / "repurposing")
    (tmp_path / "all" / "unheard_of").mkdir()
    cases = {case.name: case.benchmark for case in find_cases(tmp_path / "all")}
    assert cases == {"toy_Small_12": "repurposing", "unheard_of/": "unheard_of"}


@pytest.mark.parametrize("folder", ["empty", "absent", "unrelated"])
def test_no_case_at_all_is_an_error(tmp_path: Path, folder: str) -> None:
    if folder != "absent":
        (tmp_path / folder).mkdir()
    if folder == "unrelated":
        (tmp_path / folder / "photographs").mkdir()
    with pytest.raises(UsageError):
        find_cases(tmp_path / folder)


def test_a_pattern_does_not_take_another_methods_cases(golden: Path, card: MethodCard) -> None:
    for name in ("mytoy_Small_12", "toy_Small_12_old", "toy_Small", "toy_12"):
        np.savez(golden / f"{name}.npz", x=np.zeros(1))
    matched = [case.name for case in find_cases(golden) if matches_of(case, [card])]
    assert matched == ["toy_Small_12"]


def test_dataset_names_may_hold_underscores(golden: Path, card: MethodCard) -> None:
    np.savez(golden / "toy_indep_MBiRW_5.npz", x=np.zeros(1))
    case = next(case for case in find_cases(golden) if "indep" in case.name)
    (match,) = matches_of(case, [card])
    assert (match.dataset, match.seed) == ("indep_MBiRW", 5)


def test_a_pattern_without_a_word_takes_the_one_case_of_its_name(golden: Path, card: MethodCard) -> None:
    np.savez(golden / "toy_encode.npz", x=np.zeros(1))
    table = ParityTable(cases="toy_encode", compare={"pred": Tolerance()})
    one = card.model_copy(update={"parity": [table]})
    ((match,),) = [matches for case in find_cases(golden) if (matches := matches_of(case, [one]))]
    assert (match.case.name, match.dataset, match.seed) == ("toy_encode", "", 0)


def test_a_pattern_with_a_word_twice_is_refused(golden: Path, card: MethodCard) -> None:
    table = ParityTable(cases="toy_{dataset}_{dataset}", compare={"pred": Tolerance()})
    with pytest.raises(ManifestError, match="more than once"):
        matches_of(find_cases(golden)[0], [card.model_copy(update={"parity": [table]})])


def test_a_broken_golden_is_named(layout: Layout, golden: Path, card: MethodCard, answers: Answers) -> None:
    (golden / "toy_Small_12.npz").write_bytes(b"PK not a zip")
    with pytest.raises(CorruptData, match="golden"):
        list(check_cases(layout, find_cases(golden), [card], answers))


def test_a_source_that_is_none_is_refused(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers
) -> None:
    table = card.parity[0].model_copy(update={"inputs": {"associations": "A_train"}})
    with pytest.raises(ManifestError, match="source"):
        list(check_cases(layout, find_cases(golden), [card.model_copy(update={"parity": [table]})], answers))


def test_an_input_without_source_is_refused(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers
) -> None:
    table = card.parity[0].model_copy(update={"inputs": {"associations": "golden:A_train"}})
    with pytest.raises(ManifestError, match="drug_similarity"):
        list(check_cases(layout, find_cases(golden), [card.model_copy(update={"parity": [table]})], answers))


def test_the_command_names_what_nobody_knows(golden: Path) -> None:
    result = CliRunner().invoke(group, ["parity", "--golden", str(golden), "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert [one["verdict"] for one in told["findings"]] == ["not implemented yet"]


@pytest.mark.parametrize("subject", ["alswr", "als_wr"])
def test_the_command_refuses_a_method_without_case(golden: Path, subject: str) -> None:
    result = CliRunner().invoke(group, ["parity", subject, "--golden", str(golden)])
    assert isinstance(result.exception, UsageError)


def test_metrics_beyond_their_tolerance_fail_the_command(shared: Path, tmp_path: Path) -> None:
    with np.load(shared / "golden" / "repurposing" / "metrics.npz") as stored:
        arrays = {name: stored[name] for name in stored.files if name.startswith("c00/")}
    save(tmp_path / "metrics.npz", arrays)
    assert (
        CliRunner()
        .invoke(group, ["parity", "metrics", "--golden", str(tmp_path)], standalone_mode=False)
        .return_value
        == 0
    )
    arrays["c00/lin_auc"] = arrays["c00/lin_auc"] + 1e-9
    save(tmp_path / "metrics.npz", arrays)
    result = CliRunner().invoke(group, ["parity", "metrics", "--golden", str(tmp_path)], standalone_mode=False)
    assert result.return_value == 1
    assert "beyond" in result.output


def test_a_changed_split_is_found(layout: Layout, shared: Path, tmp_path: Path, answers: Answers) -> None:
    name = "split_random_Synthetic_17263407.npz"
    with np.load(shared / "golden" / "repurposing" / name) as stored:
        arrays = {key: stored[key] for key in stored.files}
    save(tmp_path / name, arrays)
    (finding,) = check_cases(layout, find_cases(tmp_path), [], answers)
    assert finding.worst is Standing.OK
    arrays["val_mask"] = arrays["val_mask"].copy()
    arrays["val_mask"][100] ^= 1
    save(tmp_path / name, arrays)
    (finding,) = check_cases(layout, find_cases(tmp_path), [], answers)
    assert finding.worst is Standing.BEYOND
