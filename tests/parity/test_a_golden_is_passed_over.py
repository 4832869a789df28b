"""Every file of a golden folder is checked or named, and a folder without any is an error."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from harness import benchmarks
from harness.base.errors import ManifestError, MissingData, UsageError
from harness.base.layout import Layout
from harness.cli import group
from harness.methods.card import MethodCard, ParityTable, Tolerance
from harness.parity import check, check_cases, find_cases
from harness.parity.cases import METRICS, GoldenCase, _passed_over, matches_of
from harness.parity.finding import CaseFinding, Standing
from harness.parity.goldens import Golden
from tests.parity.conftest import Answers, save


def test_a_case_without_a_method_is_named(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers
) -> None:
    np.savez(golden / "unknown_Small_12.npz", x=np.zeros(1))
    found = {finding.case: finding.worst for finding in check_cases(layout, find_cases(golden), [card], answers)}
    assert found == {"toy_Small_12": Standing.OK, "unknown_Small_12": Standing.NOT_IMPLEMENTED}


def test_every_table_that_covers_a_case_is_compared(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers
) -> None:
    """Also after one that is fulfilled, and beside other methods' tables."""
    table = card.parity[0]
    tables = [table, table.model_copy(update={"processor": ["never"]}), table]
    found = [*check_cases(layout, find_cases(golden), [card.model_copy(update={"parity": tables})], answers)]
    assert [(one.case, one.worst) for one in found] == [
        ("toy_Small_12", standing) for standing in (Standing.OK, Standing.OTHER_PROCESSOR, Standing.OK)
    ]


@pytest.mark.parametrize(
    ("needed", "standing", "said"),
    [
        ([], Standing.OK, ""),
        (["avx", "fma"], Standing.OK, ""),
        (["sve", "avx", "avx512f"], Standing.OTHER_PROCESSOR, "needs a processor with avx512f, sve"),
    ],
)
def test_a_golden_of_another_processor_is_named_and_not_run(
    layout: Layout,
    golden: Path,
    card: MethodCard,
    answers: Answers,
    monkeypatch: pytest.MonkeyPatch,
    needed: list[str],
    standing: Standing,
    said: str,
) -> None:
    monkeypatch.setattr(check, "processor_flags", lambda: ["avx", "avx2", "fma"])
    one = card.model_copy(update={"parity": [card.parity[0].model_copy(update={"processor": needed})]})
    (found,) = check_cases(layout, find_cases(golden), [one], answers)
    assert (found.case, found.kind, found.subject) == ("toy_Small_12", "method", "toy")
    assert found.worst is standing and said in found.note
    assert bool(answers.asked) is (standing is Standing.OK)


def test_another_processor_is_no_drift() -> None:
    assert not Standing.OTHER_PROCESSOR.is_bad


def test_a_file_that_is_no_case_is_named(
    layout: Layout, tmp_path: Path, golden: Path, card: MethodCard, answers: Answers
) -> None:
    """But not what says what a case is of, what cases share, or what only lists the files."""
    (golden / "toy_Small_12.json").write_text("{}")
    for name in ("_notes.txt", "INDEX.json", "SHA256SUMS"):
        (golden / name).write_text("")
    assert [case.name for case in find_cases(golden)] == ["toy_Small_12"]
    np.save(golden / "toy_Small_13.npy", np.zeros(1))
    (golden / "extra.csv").write_text("a,b")
    found = {finding.case: finding.worst for finding in check_cases(layout, find_cases(golden), [card], answers)}
    named = ("extra.csv", "toy_Small_13.npy")
    assert found == {"toy_Small_12": Standing.OK, **dict.fromkeys(named, Standing.NOT_IMPLEMENTED)}
    # in the folder of a benchmark whatever lies below it
    whole = tmp_path / "repurposing"
    shutil.copytree(golden, whole)
    (whole / "toy" / "old").mkdir(parents=True)
    shutil.copy(golden / "toy_Small_12.npz", whole / "toy" / "old" / "toy_Small_7.npz")
    assert "toy/old/toy_Small_7.npz" in [case.name for case in find_cases(whole)]


def test_what_lies_in_a_folder_of_inputs_is_one(tmp_path: Path) -> None:
    """Whatever its own name; what is about a case, or lists the cases, is none either."""
    for name in (
        "_inputs/a.csv",
        "deep/_of/b.csv",
        "_c.csv",
        "INDEX.json",
        "case.json",
        "case.npz",
        "d.csv",
        "deep/e",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = _passed_over(tmp_path, {tmp_path / "case.npz"}, tmp_path.rglob("*"))
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["d.csv", "deep/e"]


def test_features_are_no_case(golden: Path) -> None:
    assert [case.name for case in find_cases(golden)] == ["toy_Small_12"]


def test_a_parent_folder_is_taken_apart(tmp_path: Path, golden: Path) -> None:
    shutil.move(golden, tmp_path / "all" / "repurposing")
    (tmp_path / "all" / "unheard_of").mkdir()
    cases = {case.name: case.benchmark for case in find_cases(tmp_path / "all")}
    assert cases == {"toy_Small_12": "repurposing", "unheard_of/": "unheard_of"}


def test_folders_are_named_by_the_alphabet_and_an_empty_one_hides_no_other(tmp_path: Path, golden: Path) -> None:
    for name in ("m", "z", "a", "ddi", "q", "b"):
        (tmp_path / "all" / name).mkdir(parents=True)
    shutil.move(golden, tmp_path / "all" / "repurposing")
    names = [case.name for case in find_cases(tmp_path / "all")]
    assert names == ["a/", "b/", "m/", "q/", "toy_Small_12", "z/"]


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
    np.savez(golden / "unknown_Small_12.npz", x=np.zeros(1))
    broken, other = check_cases(layout, find_cases(golden), [card], answers)
    assert (broken.case, broken.standing) == ("toy_Small_12", Standing.FAILED)
    assert broken.note.startswith("not a readable golden: ")
    assert broken.note.endswith(f" ({golden / 'toy_Small_12.npz'})")
    assert other.standing is Standing.NOT_IMPLEMENTED, "the others are compared all the same"


@pytest.mark.parametrize("source", ["A_train", "golden", "golden:", "elsewhere:A_train", ":A_train"])
def test_a_source_that_is_none_is_refused(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, source: str
) -> None:
    table = card.parity[0].model_copy(update={"inputs": {"associations": source}})
    with pytest.raises(ManifestError) as error:
        list(check_cases(layout, find_cases(golden), [card.model_copy(update={"parity": [table]})], answers))
    assert error.value.what == f"'{source}' is no source of an array"
    assert error.value.where == "method.toml of 'toy': parity.inputs.associations"
    forms = "golden:ARRAY, features:ARRAY, standardised:ARRAY, one_view:ARRAY, split:ARRAY"
    assert error.value.todo == f"write one of {forms}"


def test_an_input_without_source_is_refused(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers
) -> None:
    table = card.parity[0].model_copy(update={"inputs": {"associations": "golden:A_train"}})
    with pytest.raises(ManifestError) as error:
        list(check_cases(layout, find_cases(golden), [card.model_copy(update={"parity": [table]})], answers))
    assert error.value.what == ("the parity table of 'toy' gives no source for drug_similarity, drug_standardised")
    assert error.value.where == "method.toml: parity (toy_{dataset}_{seed}): inputs"
    assert error.value.todo == "name a source for every declared input"


def test_each_feature_may_be_of_one_view(layout: Layout, golden: Path, card: MethodCard, answers: Answers) -> None:
    inputs = {**card.parity[0].inputs, "drug_views": "one_view:S", "drug_features": "features:S"}
    table = card.parity[0].model_copy(update={"inputs": inputs})
    list(check_cases(layout, find_cases(golden), [card.model_copy(update={"parity": [table]})], answers))
    views, features = (answers.asked[0].inputs[name] for name in ("drug_views", "drug_features"))
    assert views.dtype == np.int32 and views.tolist() == [0, 0, 0]
    with np.load(golden / "_features_Small.npz") as stored:
        np.testing.assert_array_equal(features, stored["S"])


def test_the_command_names_what_nobody_knows(golden: Path) -> None:
    result = CliRunner().invoke(group, ["parity", "--golden", str(golden), "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
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


def _own_cases(monkeypatch: pytest.MonkeyPatch, *cases: GoldenCase) -> None:
    """Benchmark `repurposing` gets a part that names these cases, and one that compares golden metrics."""

    def check_file(_layout: Layout, case: str, path: Path, _mirrors: Sequence[Path]) -> CaseFinding:
        return CaseFinding(case, METRICS, path.read_text(encoding="utf-8"))

    parts = {
        "parity.cases": SimpleNamespace(cases_in=lambda _folder: cases),
        "parity.metrics": SimpleNamespace(check_file=check_file),
    }
    monkeypatch.setattr(
        benchmarks, "part", lambda name, below: parts.get(below) if name == "repurposing" else None
    )


def test_files_of_one_case_are_none_of_their_own(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case of several files is one case; an archive beside it, of which none is made, is another."""
    notes, weights = golden / "steps.json", golden / "weights.npz"
    notes.write_text("{}")
    np.savez(weights, x=np.zeros(1))
    _own_cases(monkeypatch, GoldenCase("steps", notes, "repurposing", files=(weights,)))
    assert [case.name for case in find_cases(golden)] == ["toy_Small_12", "steps"]


def test_a_case_of_another_form_is_read_by_its_benchmark(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts and notes reach the method, and what it traces is compared."""

    def read(_layout: Layout, mirrors: Sequence[Path]) -> Golden:
        if not mirrors:
            raise MissingData("the dataset is not here")
        arrays = {"in/texts": np.array(["a", "bb"]), "out/lengths": np.array([1, 2])}
        return Golden(arrays, {"language": "none"})

    path = golden / "texts.jsonl"
    path.touch()
    _own_cases(monkeypatch, GoldenCase("texts", path, "repurposing", read=read))
    table = ParityTable(cases="texts", task="steps", given=["in/*"], compare={"out/*": Tolerance()})
    cards = [card.model_copy(update={"parity": [table]})]
    cases = [case for case in find_cases(golden) if case.path == path]
    (absent,) = check_cases(layout, cases, cards, answers)
    assert absent.worst is Standing.MISSING_DATA
    answers.trace = {"out.lengths": np.array([1, 2])}
    (equal,) = check_cases(layout, cases, cards, answers, mirrors=[golden])
    assert equal.worst is Standing.OK
    assert answers.asked[0].inputs["in/texts"] == ["a", "bb"]
    assert json.loads(answers.asked[0].inputs["about"][0]) == {"language": "none", "shapes": {"out/lengths": [2]}}
    answers.trace = {"out.lengths": np.array([1, 3])}
    (other,) = check_cases(layout, cases, cards, answers, mirrors=[golden])
    assert other.worst is Standing.BEYOND


def test_a_file_of_golden_metrics_goes_to_the_benchmark(
    layout: Layout, golden: Path, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = golden / "scores.json"
    path.write_text("the file")
    _own_cases(monkeypatch, GoldenCase("scores", path, "repurposing", METRICS))
    (finding,) = check_cases(layout, find_cases(golden), [], answers, only=[METRICS])
    assert finding.subject == "the file"
