"""A key, or the beginning of one, leads to its run and to no other, made here or committed."""

from __future__ import annotations

import gzip
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from harness import api
from harness.api import Repository
from harness.base.errors import CorruptData, MissingData, UsageError
from harness.base.files import digest_of
from harness.cli import group, main
from harness.compare import ClaimVerdict
from harness.handles import PublishedLines, differences_of, find_handle, metric_lines, page_text, published_beside
from harness.planning.obstacles import Obstacles
from harness.planning.plan import Plan
from harness.proof.leaves import Event
from harness.results.reference import find_reference, load_reference
from harness.results.store import Store
from tests.fabricate import planned_of


def _keys(made_up: Plan) -> list[str]:
    return [planned_of(cell).key for cell in made_up.cells]


def test_a_beginning_leads_to_its_run(committed: Repository, made_up: Plan) -> None:
    for key in _keys(made_up)[:4]:
        for text in (key, key[:12], key[:12].upper(), f" {key[:12]} "):
            handle = find_handle(committed.layout, committed.store, text)
            assert (handle.key, handle.folder) == (key, committed.store.path(key))
            assert handle.reference is not None or text.strip() == key


def test_a_whole_key_tells_as_much_of_a_run_as_its_beginning(committed: Repository, made_up: Plan) -> None:
    """That the same job is committed, too: those of the control no longer are."""
    (control,) = committed.layout.reference.glob("*/constant/*.jsonl.gz")
    control.unlink()
    for cell in made_up.cells[:4]:
        key, is_committed = planned_of(cell).key, cell.job.method != "constant"
        page = api.show(key, repository=committed)
        assert page == api.show(key[:12], repository=committed)
        assert (page["committed"], page["kind"]) == (is_committed, "run of this machine")
        assert ("committed reference result, too" in page_text(page)) == is_committed


def test_without_a_run_here_the_committed_one_is_meant(committed: Repository, made_up: Plan) -> None:
    key = _keys(made_up)[0]
    before = api.show(key, repository=committed)
    committed.store.remove(key)
    page = api.show(key[:12], repository=committed)
    assert (page["key"], page["kind"]) == (key, "reference result")
    assert page["scores"] == before["scores"] and before["scores"]["metrics"]
    assert api.scores(key[:12], repository=committed).scores.metrics == page["scores"]["metrics"]
    with pytest.raises(UsageError, match="not kept"):
        api.scores(key[:12], again=True, repository=committed)
    with pytest.raises(MissingData, match="keeps no log") as refusal:
        api.container_log(key[:12], repository=committed)
    assert "harness run --method constant --dataset synthetic --seed 17263407" in refusal.value.todo


def test_a_committed_run_is_found_without_those_of_other_files(committed: Repository, made_up: Plan) -> None:
    keys, layout = _keys(made_up)[:4], committed.layout
    for key in keys:
        committed.store.remove(key)
    every = load_reference(layout)
    assert list(find_reference(layout, "")) == list(every) and sorted(every) == sorted(keys)
    assert not find_reference(layout, "f" * 64)
    for key in keys:
        (found,) = find_reference(layout, key[:12]).items()
        assert found == (key, every[key])
    (other,) = layout.reference.glob("*/constant/*.jsonl.gz")
    other.write_bytes(gzip.compress(b"{}\n"))
    assert find_handle(layout, committed.store, keys[2][:12]).key == keys[2]
    # a file that can't be searched may hold it
    other.write_bytes(other.read_bytes()[:-4])
    with pytest.raises(CorruptData, match="not a gzipped file"):
        find_handle(layout, committed.store, keys[2][:12])


def test_results_of_a_method_are_found_in_every_variant_and_no_others(committed: Repository) -> None:
    every = load_reference(committed.layout)
    own = {key: one for key, one in every.items() if one.planned.job.method == "als_wr"}
    folder = next(committed.layout.reference.glob("*/als_wr"))
    folder.rename(folder.with_name("als_wr-corrected"))
    folder.with_name("constant").rename(folder.with_name("als_wr-constant"))
    assert load_reference(committed.layout, methods=["als_wr"]) == {
        key: replace(one, where=one.where.replace("als_wr", "als_wr-corrected")) for key, one in own.items()
    }
    assert own and len(own) < len(every)
    assert not load_reference(committed.layout, methods=["als"])


def test_a_beginning_that_stands_elsewhere_in_a_record_is_no_key(committed: Repository, made_up: Plan) -> None:
    planned = planned_of(made_up.cells[0])
    committed.store.remove(planned.key)
    assert planned.split_digest != planned.key
    with pytest.raises(UsageError, match="no run has a key"):
        find_handle(committed.layout, committed.store, planned.split_digest)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "a key holds"), ("bnnr", "called 'bnnr'"), ("../..", "a key holds"), ("0" * 65, "a key holds")],
)
def test_what_is_no_key_is_refused(committed: Repository, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        find_handle(committed.layout, committed.store, text)


def test_an_unknown_key_says_where_was_looked(committed: Repository) -> None:
    with pytest.raises(UsageError, match="no run has a key that begins with 'ffffffffff'") as refusal:
        find_handle(committed.layout, committed.store, "ffffffffff")
    assert "(4 runs)" in refusal.value.where
    assert "--cells" in refusal.value.todo
    assert next(committed.store.finished())[:12] in refusal.value.todo


def test_keys_of_reference_results_are_listed(here: Repository, made_up: Plan) -> None:
    lines = CliRunner().invoke(group, ["reference", "list", "--keys", "--method", "constant"]).output.splitlines()
    assert [line.split()[0] for line in lines] == [key[:12] for key in _keys(made_up)[:2]]
    rows = json.loads(CliRunner().invoke(group, ["reference", "list", "--keys", "--json"]).stdout)["rows"]
    assert {row["key"] for row in rows} == set(_keys(made_up)[:4])
    with pytest.raises(SystemExit) as ended:
        main(["reference", "list", "--keys", "--method", "constnat"])
    assert ended.value.code == 2


def test_an_ambiguous_key_names_the_runs_and_how_much_it_takes(committed: Repository, made_up: Plan) -> None:
    keys = _keys(made_up)[:4]
    store = committed.store
    twin = keys[0][:5] + ("0" if keys[0][5] != "0" else "1") + keys[0][6:]
    store.path(twin).mkdir(parents=True)
    with pytest.raises(UsageError, match=f"2 keys begin with '{keys[0][:4]}'") as refusal:
        find_handle(committed.layout, store, keys[0][:4])
    assert "constant/published on synthetic" in refusal.value.where
    assert "its record can't be read" in refusal.value.where
    assert "give 6 characters" in refusal.value.todo
    assert find_handle(committed.layout, store, keys[0][:6]).key == keys[0]


def test_so_many_characters_are_asked_for_as_tell_all_keys_apart(committed: Repository) -> None:
    for rest in ("10", "21", "22"):
        committed.store.path(f"abcdef{rest}".ljust(64, "0")).mkdir(parents=True)
    with pytest.raises(UsageError, match="3 keys begin with 'abcdef'") as refusal:
        find_handle(committed.layout, committed.store, "abcdef")
    assert refusal.value.todo == "give 8 characters of it, which tell all of them apart"


def test_a_page_shows_what_the_record_and_the_scores_say(here: Repository, made_up: Plan) -> None:
    key = _keys(made_up)[2]
    record = here.store.record(key)
    done = CliRunner().invoke(group, ["show", key[:12], "--json"])
    page = json.loads(done.stdout)
    assert page["verdict"] == "ok" and page["current"] and page["committed"]
    assert page["image"]["code_tree"] == record.image["code_tree"]
    assert {one["name"]: one["sha256"] for one in page["files"]} == {
        name: file.sha256 for name, file in record.files.items()
    }
    assert all(one["here"] for one in page["files"])
    assert page["scores"]["metrics"] == api.scores(key, repository=here).scores.metrics
    assert set(page["inputs"]["files"]) >= {"folds"}
    text = CliRunner().invoke(group, ["show", key[:12]]).output
    assert key in text and "als_wr/published on synthetic" in text and "predictions.npy" in text
    # records of several kinds write their moments in several forms
    moment = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
    assert re.search(f"  from {moment} to {moment}\n", text)
    # the files of the inputs have a line each, and none for all of them
    assert all(f"  {name} " in text for name in page["inputs"]["files"]) and "\n  files" not in text
    for name, value in page["scores"]["metrics"].items():
        assert name in text
        assert value is None or repr(value) in text


def test_a_failed_run_shows_its_reason_and_no_scores(committed: Repository, made_up: Plan) -> None:
    page = api.show(_keys(made_up)[3], repository=committed)
    assert (page["verdict"], page["reason"]) == ("error", "exit code 3: no such matrix")
    assert page["scores"] is None and page["published"] == []


@pytest.mark.parametrize(
    ("is_emptied", "what"),
    [(True, "a file of the run was cut or has grown"), (False, "a file of the run is missing")],
)
def test_a_damaged_run_is_no_good_one(here: Repository, made_up: Plan, is_emptied: bool, what: str) -> None:
    """As `status` has it: no scores are shown that can't be made again."""
    key, other = _keys(made_up)[0], _keys(made_up)[1]
    path = here.store.path(key) / "predictions.npy"
    path.write_bytes(b"") if is_emptied else path.unlink()
    reason = f"evidence is damaged: {what} ({path})"
    page = api.show(key, repository=here)
    assert (page["verdict"], page["reason"]) == ("infrastructure", reason)
    assert page["scores"] is None and page["published"] == []
    text = CliRunner().invoke(group, ["show", key]).output
    assert f"infrastructure: {reason}" in text and "none: only a run that ended ok is a result" in text
    differences = {(one.section, one.name): one for one in api.diff(key, other, repository=here)}
    assert differences["outcome", "verdict"].first == "infrastructure"
    assert differences["outcome", "reason"].first == reason
    assert differences["scores", "all metrics"].first == "no fresh ones"
    (run,) = api.forget(key, dry_run=True, repository=here)
    label = here.store.record(key).planned.job.label
    assert (run.verdict, run.label) == ("infrastructure", f"{label} ({reason})")


def test_a_run_of_other_code_is_called_superseded(here: Repository, made_up: Plan) -> None:
    key = _keys(made_up)[2]
    assert "superseded" not in CliRunner().invoke(group, ["show", key]).output
    with (here.layout.root / "methods" / "als_wr" / "main.py").open("a") as file:
        file.write("\nMORE = 1\n")
    assert "superseded" in CliRunner().invoke(group, ["show", key]).output


def test_published_values_stand_beside_the_metric_they_are_about(here: Repository, made_up: Plan) -> None:
    cell = made_up.cells[2]
    planned = planned_of(cell)
    beside = published_beside(here.layout, here.store, [planned])[planned.key]
    book = api.compare("repurposing", methods="als_wr", datasets="synthetic", repository=here)
    values = {
        one.metric: one.claim.published
        for one in book.comparisons
        if one.claim.seed == cell.job.split.seed and one.target.split == "random"
    }
    assert values
    assert {one["metric"]: one["published"] for one in beside if one["statistic"] == "value"} == values
    text = CliRunner().invoke(group, ["show", planned.key]).output.splitlines()
    for metric, value in values.items():
        place = next(number for number, line in enumerate(text) if line.startswith(f"  {metric} "))
        assert text[place + 1].strip().startswith(f"published {value}: ")


def test_of_claims_only_those_about_the_runs_are_judged_by_what_mirrors_have(
    here: Repository, made_up: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []

    def compare(layout: object, store: object, benchmark: str, **chosen: object) -> SimpleNamespace:
        asked.append((layout, store, benchmark, chosen))
        return SimpleNamespace(comparisons=[])

    monkeypatch.setattr("harness.handles.publication.compare_claims", compare)
    planned = [planned_of(cell) for cell in made_up.cells[1:4]]
    assert {one.job.method for one in planned} == {"als_wr", "constant"}
    assert published_beside(here.layout, here.store, planned, [tmp_path]) == {one.key: [] for one in planned}
    chosen = {"methods": {"als_wr", "constant"}, "datasets": {"synthetic"}, "mirrors": [tmp_path]}
    assert asked == [(here.layout, here.store, "repurposing", chosen)]


def test_a_run_shows_what_was_published_of_it(
    here: Repository, made_up: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is left to do, so no engine is needed to see it."""
    planned = planned_of(made_up.cells[2])
    beside = published_beside(here.layout, here.store, [planned])[planned.key]
    asked = ["run", "--method", "als_wr", "--dataset", "synthetic", "--seed", str(planned.job.split.seed)]
    with pytest.raises(SystemExit):
        main(asked)
    text = capsys.readouterr().out
    values = [one for one in beside if one["statistic"] == "value"]
    assert values
    assert all(f"published {one['published']}: {one['verdict']}" in text for one in values)
    with pytest.raises(SystemExit):
        main([*asked, "--json"])
    assert json.loads(capsys.readouterr().out)["published"] == {planned.key: json.loads(json.dumps(beside))}


def test_a_run_with_other_parameters_or_options_has_no_published_number(here: Repository, made_up: Plan) -> None:
    planned = planned_of(made_up.cells[2])
    for other in ({"parameters": {**planned.job.parameters, "alpha": 77.0}}, {"options": {"inner_folds": 0}}):
        job = planned.job.model_copy(update=other)
        assert published_beside(here.layout, here.store, [planned.model_copy(update={"job": job})]) == {}


def test_a_shared_reason_is_said_once() -> None:
    claim = {"metric": "AUC", "published": "0.5", "statistic": "value", "reason": "drawn without a seed"}
    lines = PublishedLines([{**claim, "verdict": str(ClaimVerdict.NOT_COMPARABLE)}] * 2)
    assert lines.about("AUC") == ["published 0.5: not-comparable [1]"] * 2
    assert lines.about("other") == []
    assert lines.reasons == ["[1] drawn without a seed"]


def test_metrics_that_a_run_has_none_of_hide_no_other() -> None:
    claim = {"metric": "AUPR", "statistic": "value", "published": 0.5, "reason": "", "verdict": "pending"}
    metrics = [("CI", 0.25), ("AUROC", None), ("AUPR", None), ("F1", None), ("kappa", None)]
    reason = "no metric of affinities"
    notes = dict.fromkeys(("AUROC", "AUPR", "F1"), reason) | {"kappa": "one type"}
    assert [*metric_lines(metrics, notes, PublishedLines([claim]))] == [
        "  CI     0.25",
        f"  AUPR   undefined: {reason}",
        "         published 0.5: pending",
        f"  undefined, {reason}: AUROC, F1",
        "  undefined, one type: kappa",
    ]


def test_the_log_is_shown_byte_for_byte(here: Repository, made_up: Plan) -> None:
    key = _keys(made_up)[0]
    assert CliRunner().invoke(group, ["show", key, "--log"]).output == "reading\nfitting\ndone\n"
    assert CliRunner().invoke(group, ["show", key, "--log", "--lines", "1"]).output == "done\n"
    as_json = json.loads(CliRunner().invoke(group, ["show", key, "--log", "--json"]).stdout)
    assert (as_json["log"], as_json["recorded"]) == ("reading\nfitting\ndone\n", True)
    assert CliRunner().invoke(group, ["show", key, "--lines", "1"]).exit_code == 2


def test_another_log_than_the_recorded_one_is_told(
    here: Repository, made_up: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    key = _keys(made_up)[0]
    for log, told in (("all is well\n", ""), ("", "the log is empty\n")):
        (here.store.path(key) / "log.txt").write_text(log)
        with pytest.raises(SystemExit) as ended:
            main(["show", key, "--log"])
        output = capsys.readouterr()
        assert (ended.value.code, output.out) == (CorruptData.exit_code, log)
        assert output.err.startswith(f"{told}error: this log is not the one that was recorded\n")


def test_two_runs_differ_in_what_differs(
    here: Repository, made_up: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    first, other, method, *_ = _keys(made_up)
    sections = {one.section for one in api.diff(first, other, repository=here)}
    assert {"job", "inputs", "scores", "files"} <= sections and "image" not in sections
    names = {(one.section, one.name) for one in api.diff(first, method, repository=here)}
    assert ("job", "method") in names and ("image", "code_tree") in names and ("job", "dataset") not in names
    with pytest.raises(SystemExit) as ended:
        main(["diff", first[:12], other[:12]])
    assert ended.value.code == 1
    assert "split.seed  17263407  22928437" in capsys.readouterr().out


def test_a_run_is_the_same_as_itself_and_its_committed_line(
    here: Repository, made_up: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    key = _keys(made_up)[0]
    own = find_handle(here.layout, here.store, key[:20])
    assert own.reference
    assert differences_of(here.layout, own, replace(own, folder=None, content=own.reference.content)) == []
    with pytest.raises(SystemExit) as ended:
        main(["diff", key, key])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("the same")


def test_time_and_machine_alone_are_no_difference(here: Repository, made_up: Plan) -> None:
    own = find_handle(here.layout, here.store, _keys(made_up)[0])
    later = {**own.content, "started": "2027-01-01T00:00:00Z", "resources": {"wall_s": 9.0}}
    differences = differences_of(here.layout, own, replace(own, content=later))
    assert {one.name for one in differences} == {"started", "wall_s", "cpu_s", "peak_bytes"}
    assert not any(one.decides for one in differences)
    forged = {
        **own.content,
        "files": {**own.content["files"], "predictions.npy": {"sha256": "0" * 64, "bytes": 1}},
    }
    differences = differences_of(here.layout, own, replace(own, content=forged))
    assert [(one.section, one.name, one.decides) for one in differences] == [
        ("scores", "all metrics", True),
        ("files", "predictions.npy", True),
    ]


def test_only_what_was_named_is_forgotten(here: Repository, made_up: Plan) -> None:
    keys = _keys(made_up)
    store: Store = here.store
    assert {run.key for run in api.forget(methods="constant", dry_run=True, repository=here)} == set(keys[:2])
    assert len(list(store.finished())) == 4
    assert [run.key for run in api.forget(keys[0][:12], repository=here)] == [keys[0]]
    assert sorted(store.finished()) == sorted(keys[1:4])
    assert not (here.layout.scores / keys[0][:2] / f"{keys[0]}.json").exists()
    assert (here.layout.scores / keys[1][:2] / f"{keys[1]}.json").exists()
    done = CliRunner().invoke(group, ["forget", "--dataset", "synthetic", "--method", "als_wr", "--yes", "--json"])
    assert {run["key"] for run in json.loads(done.stdout)["runs"]} == set(keys[2:4])
    assert list(store.finished()) == [keys[1]]


def test_the_size_that_is_told_is_what_lies_there(committed: Repository, made_up: Plan) -> None:
    key = _keys(made_up)[2]
    folder = committed.store.path(key)
    scores = committed.layout.scores / key[:2] / f"{key}.json"
    (told,) = api.forget(key, dry_run=True, repository=committed)
    assert told.bytes == sum(path.stat().st_size for path in [*folder.iterdir(), scores])


def test_what_a_link_in_a_run_leads_to_is_no_part_of_its_size(here: Repository, made_up: Plan) -> None:
    key = _keys(made_up)[2]
    (before,) = api.forget(key, dry_run=True, repository=here)
    links = {"python": sys.executable, "nowhere": "nowhere"}
    for name, target in links.items():
        (here.store.path(key) / name).symlink_to(target)
    (told,) = api.forget(key, dry_run=True, repository=here)
    assert told.bytes == before.bytes + sum(map(len, links.values()))


def test_a_run_whose_record_can_not_be_read_is_of_no_method_or_dataset(here: Repository, made_up: Plan) -> None:
    """Who leaves a name empty, as a script may, would forget each such run."""
    key = _keys(made_up)[0]
    (here.store.path(key) / "record.json").write_text("{")
    for methods, datasets in (([""], []), ([], [""])):
        with pytest.raises(UsageError, match=" of a stored run is called ''"):
            api.forget(methods=methods, datasets=datasets, repository=here)
    assert [run.verdict for run in api.forget(key, dry_run=True, repository=here)] == ["unknown"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--yes"], "name what to forget"),
        (["KEY", "--method", "constant", "--yes"], "exclude each other"),
        (["--method", "constnat", "--yes"], "did you mean 'constant'"),
        (["--dataset", "hdvd", "--yes"], "no dataset of a stored run is called 'hdvd'"),
        (["GONE", "--yes"], "is a reference result, and no run of this machine"),
        (["--method", "constant", "--json"], "add --yes or --dry-run"),
        (["--method", "constant"], "nobody is here to be asked"),
        (["nokey", "--yes"], "a key holds"),
        ([""], "a key holds"),
    ],
)
def test_a_wrong_wish_forgets_nothing(
    arguments: list[str], said: str, here: Repository, made_up: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = _keys(made_up)
    here.store.remove(keys[0])
    names = {"KEY": keys[1], "GONE": keys[0]}
    with pytest.raises(SystemExit) as ended:
        main(["forget", *(names.get(one, one) for one in arguments)])
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert said in told.out + told.err
    assert sorted(here.store.finished()) == sorted(keys[1:4])


@pytest.mark.parametrize(("answer", "code", "left"), [(False, 1, 4), (True, 0, 3)])
def test_a_person_is_asked_first(
    answer: bool, code: int, left: int, here: Repository, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.cli.forget._is_asked", lambda: True)
    monkeypatch.setattr("click.confirm", lambda question: answer)
    with pytest.raises(SystemExit) as ended:
        main(["forget", _keys(made_up)[0]])
    assert ended.value.code == code
    assert len(list(here.store.finished())) == left


def test_a_run_that_is_being_made_stays(committed: Repository, made_up: Plan) -> None:
    key = _keys(made_up)[0]
    with committed.store.claim(key) as is_ours:
        assert is_ours
        (run,) = api.forget(key, repository=committed)
    assert "running it right now" in run.fault
    assert committed.store.path(key).is_dir()


def test_a_run_whose_record_is_cut_can_be_forgotten_by_its_key(committed: Repository, made_up: Plan) -> None:
    key = _keys(made_up)[0]
    (committed.store.path(key) / "record.json").write_text("{")
    with pytest.raises(CorruptData):
        api.show(key, repository=committed)
    (run,) = api.forget(key[:16], repository=committed)
    assert run.verdict == "unknown"
    assert not committed.store.path(key).exists()


@pytest.mark.parametrize("planned", [{}, [], 1, {"job": {}}, {"job": 3}, {"job": {"split": {"parameters": []}}}])
def test_a_run_whose_plan_is_of_another_form_can_be_forgotten(
    committed: Repository, made_up: Plan, planned: object
) -> None:
    """Whoever wrote it: its digest is right."""
    key = _keys(made_up)[0]
    path = committed.store.path(key) / "record.json"
    content = {**json.loads(path.read_text()), "planned": planned}
    del content["digest"]
    path.write_text(json.dumps({**content, "digest": digest_of(content)}))
    (run,) = api.forget(key, repository=committed)
    assert (run.key, run.verdict) == (key, "unknown") and not path.parent.exists()
    last = committed.store.log.leaves()[-1]
    assert (last.kind, last.key, last.scope) == (Event.REMOVAL, key, "")


def test_a_beginning_of_several_keys_forgets_none(committed: Repository, made_up: Plan) -> None:
    key = _keys(made_up)[0]
    twin = key[:12] + "".join(reversed(key[12:]))
    committed.store.path(twin).mkdir(parents=True)
    before = sorted(committed.store.finished())
    with pytest.raises(UsageError, match=f"2 keys begin with '{key[:12]}'"):
        api.forget(key[:12], repository=committed)
    assert sorted(committed.store.finished()) == before
    # told apart, and named twice
    assert [run.key for run in api.forget([key[:20], key, key[:20]], repository=committed)] == [key]
    assert committed.store.path(twin).is_dir()


def test_why_a_forgotten_run_failed_is_forgotten_with_it(committed: Repository, made_up: Plan) -> None:
    one, other = _keys(made_up)[:2]
    obstacles = Obstacles(committed.store.folder)
    for key in (one, other):
        obstacles.note("run", key, "it stands in the way", trace="where")
    api.forget(one, dry_run=True, repository=committed)
    assert set(obstacles.all("run")) == {one, other}
    api.forget(one, repository=committed)
    assert set(obstacles.all("run")) == {other} and not obstacles.trace_path("run", one).exists()
