"""The committed claims are whole and mapped, and a comparison has as many verdicts as claims."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from harness import benchmarks
from harness.base.errors import CorruptData, ManifestError, MissingData, UsageError
from harness.base.layout import Layout
from harness.benchmarks.repurposing.splits.seeds import published_seeds
from harness.cli import main
from harness.compare import ClaimVerdict, compare_claims, load_claims, load_external, load_names
from harness.compare.paper import Place, load_paper
from harness.compare.text import to_json, to_markdown, to_text
from harness.compare.values import TIME, _published_means, published_side
from harness.planning.plan import Plan
from harness.results.store import Store
from tests.evidence import go_to
from tests.fabricate import planned_of

HEADER = "dataset,method,split,seed,iteration,metric,value\n"


@pytest.fixture
def beside_all(repository: Layout, evidence: Layout) -> Layout:
    """The made-up runs, which stand beside a part of what was published, beside all of it."""
    shutil.copytree(repository.published, evidence.published, dirs_exist_ok=True)
    return evidence


def test_every_claim_has_one_verdict(beside_all: Layout) -> None:
    book = compare_claims(beside_all, Store(beside_all.runs), "repurposing")
    assert sum(book.tally.values()) == len(book.comparisons) == 38919
    assert sum(to_json(book)["verdicts"].values()) == to_json(book)["claims"]
    json.dumps(to_json(book), allow_nan=False)
    assert "38919 claims = " in to_text(book)
    assert "38919 claims = " in to_markdown(book)
    assert book.tally[ClaimVerdict.REPRODUCED] + book.tally[ClaimVerdict.DEVIATES] > 0


@pytest.mark.parametrize(
    ("arguments", "benchmark"),
    [
        (["--method", "tiger"], "ddi"),
        (["--dataset", "davis"], "dti"),
        (["--method", "word_ngrams", "--dataset", "combos"], "combos"),
        (["--method", "bnnr"], "repurposing"),
        # of a published name the first
        (["--method", "MBiRW"], "repurposing"),
        (["--method", "tiger", "--benchmark", "dti"], "dti"),
    ],
)
def test_claims_are_those_of_the_benchmark_that_was_meant(
    arguments: list[str],
    benchmark: str,
    evidence: Layout,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(evidence.local))
    with pytest.raises(SystemExit):
        main(["compare", *arguments, "--seed", "0"])
    assert capsys.readouterr().out.startswith(f"{benchmark}: ")


@pytest.mark.parametrize("names", [["bnnr", "tiger"], ["tiger", "bnnr"]])
def test_of_methods_of_several_benchmarks_none_is_dropped(
    names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compare", *(word for name in names for word in ("--method", name))])
    said = capsys.readouterr().err
    assert ended.value.code == 2 and "belongs to several benchmarks" in said
    assert "bnnr: repurposing" in said and "tiger: ddi" in said


def test_random_predictions_do_not_reproduce_a_paper(evidence: Layout) -> None:
    book = compare_claims(
        evidence, Store(evidence.runs), "repurposing", methods=["als_wr"], datasets=["synthetic"], seeds=[17263407]
    )
    found = {one.claim.metric: one for one in book.comparisons if one.target.split == "random"}
    assert len(found) == 10
    assert found["NS-AUC"].verdict is ClaimVerdict.DEVIATES
    assert found["NS-AUC"].keys


def test_where_nothing_is_published_no_run_is_read(evidence: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them makes the splits of all reference results: minutes, after a run of which no paper speaks."""
    monkeypatch.setattr("harness.compare.book.obtain", lambda *_: pytest.fail("runs were read"))
    book = compare_claims(evidence, Store(evidence.runs), "dti", datasets=["davis"])
    assert book.comparisons == () and not sum(book.tally.values())


def test_a_run_of_changed_code_is_not_held_against_a_claim(evidence: Layout) -> None:
    path = evidence.methods / "als_wr" / "als.py"
    path.write_text(path.read_text() + "\nchanged = 1\n")
    book = compare_claims(evidence, Store(evidence.runs), "repurposing", methods=["als_wr"], seeds=[17263407])
    assert {one.verdict for one in book.comparisons} == {ClaimVerdict.PENDING}


def test_a_run_of_other_inputs_is_not_held_against_a_claim(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmarks.get("repurposing"), "inputs_version", 2)
    book = compare_claims(evidence, Store(evidence.runs), "repurposing", methods=["als_wr"], seeds=[17263407])
    assert {one.verdict for one in book.comparisons} == {ClaimVerdict.PENDING}


def test_claims_about_data_that_nobody_has_say_so(evidence: Layout) -> None:
    folder = evidence.datasets / "transcript"
    folder.mkdir(exist_ok=True)
    (folder / "dataset.toml").write_text(
        'name = "transcript"\ntitle = "TRANSCRIPT"\nbenchmark = "repurposing"\ncitation = "none"\n'
        'licence = "none"\nconverter = "csv"\n'
        f'[[files]]\nname = "associations.csv"\nsha256 = "{"0" * 64}"\nbytes = 1\n'
        "[statistics]\ndrugs = 1\ndiseases = 1\npositives = 0\nnegatives = 0\n"
        "drug_features = 0\ndisease_features = 0\n"
    )
    book = compare_claims(evidence, Store(evidence.runs), "repurposing", datasets=["transcript"])
    assert book.tally == {ClaimVerdict.NOT_COMPARABLE: len(book.comparisons)}
    assert all("in none of its sources" in one.reason for one in book.comparisons if one.target.method)


def test_published_names_serve_as_well_as_ours(beside_all: Layout) -> None:
    store = Store(beside_all.runs)
    ours = compare_claims(beside_all, store, "repurposing", methods=["als_wr"], datasets=["fdataset"])
    theirs = compare_claims(beside_all, store, "repurposing", methods=["ALSWR"], datasets=["Fdataset"])
    assert ours == theirs and len(ours.comparisons) > 900


def test_all_is_listed_when_asked_for(evidence: Layout) -> None:
    book = compare_claims(evidence, Store(evidence.runs), "repurposing", methods=["lrssl"], datasets=["fdataset"])
    assert "claims not listed" in to_text(book)
    text = to_text(book, everything=True)
    assert "claims not listed" not in text and "distribution" in text
    short, long = (to_markdown(book, everything=everything) for everything in (False, True))
    assert "claims not listed" in short and "distribution" not in short
    assert "claims not listed" not in long and "distribution" in long


def test_the_committed_claims_are_mapped_with_a_reason(repository: Layout) -> None:
    names = load_names(repository, "repurposing")
    computed = {metric.name for metric in benchmarks.get("repurposing").scoring.metrics}
    for metric in names.metrics:
        assert metric.ours is None or metric.ours in computed
        assert metric.reason
    claims = load_claims(repository, names)
    mapped = {metric.published for metric in names.metrics}
    assert {claim.metric for claim in claims if claim.statistic == "value"} <= mapped
    assert {claim.seed for claim in claims if claim.seed} <= set(published_seeds())
    assert Counter(claim.statistic for claim in claims) == {
        "value": 38180,
        "mean": 493,
        "status": 198,
        "median": 9,
        "Kruskal-Wallis H": 17,
        "difference of means": 15,
        "adjusted p": 7,
    }


def test_the_committed_values_are_those_of_the_published_files(repository: Layout, shared: Path) -> None:
    names = load_names(repository, "repurposing")
    published = load_external(names, shared / "published" / "repurposing_per_seed.csv.gz")
    theirs = {(c.method, c.dataset, c.split, c.metric, c.seed): c.published for c in published}
    ours = [claim for claim in load_claims(repository, names) if claim.statistic == "value"]
    assert ours
    for claim in ours:
        assert theirs[claim.method, claim.dataset, claim.split, claim.metric, claim.seed] == claim.published


def test_what_was_rounded_for_the_study_agrees_with_the_published_files(repository: Layout, shared: Path) -> None:
    with gzip.open(shared / "published" / "repurposing_per_seed.csv.gz", "rt") as stream:
        theirs = {
            (row["dataset"], row["method"], row["split"], row["seed"], row["metric"]): row
            for row in csv.DictReader(stream)
        }
    names = load_names(repository, "repurposing")
    side = published_side(repository, names, load_paper(repository, "repurposing"))
    for place, seeds in side.values.items():
        for seed, run in seeds.items():
            for metric, value in run.items():
                name, column = ("NS-AUC", "train_time_s") if metric == TIME else (metric, "value")
                published = float(theirs[(*place, str(seed), name)][column])
                assert value == pytest.approx(published, rel=5e-4 if metric == TIME else 1e-5)


def test_a_mean_that_the_authors_leave_empty_is_none_and_takes_no_other_with_it(
    repository: Layout, tmp_path: Path
) -> None:
    path = tmp_path / "summary.csv"
    rows = ("D,ALSWR,s,0.25,0.5", "D,HAN,s,,0.75", "D,HAN,t,0.125,", "D,NIMCGCN,s,,", "D,nobody's,s,0.5,0.5")
    path.write_text("\n".join(["dataset,method,split,NS-AUC_mean,AUC_mean", *rows, ""]))
    means = _published_means(path, load_paper(repository, "repurposing"))
    assert means == {
        (Place("D", "ALSWR", "s"), "NS-AUC"): 0.25,
        (Place("D", "ALSWR", "s"), "AUC"): 0.5,
        (Place("D", "HAN", "s"), "AUC"): 0.75,
        (Place("D", "HAN", "t"), "NS-AUC"): 0.125,
    }


def test_claims_of_another_file_are_read(evidence: Layout, tmp_path: Path) -> None:
    text = HEADER + "Fdataset,ALSWR,random_simple,17263407,1,NS-AUC,0.6553114994019343\n"
    text += "Fdataset,ALSWR,random_simple,17263407,1,AUC,\n"
    for name, content in (("claims.csv", text.encode()), ("claims.csv.gz", gzip.compress(text.encode()))):
        path = tmp_path / name
        path.write_bytes(content)
        book = compare_claims(evidence, Store(evidence.runs), "repurposing", against=path)
        assert [one.verdict for one in book.comparisons] == [ClaimVerdict.PENDING]


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"", "line 1"),
        (b"a,b\n1,2\n", "line 1"),
        (HEADER.encode() + b"F,A,r,1,1,AUC,many\n", "line 2: value"),
        # in this form no other column makes a word of a number
        (HEADER.strip().encode() + b",statistic\nF,A,r,1,1,AUC,many,status\n", "line 2: value"),
        (HEADER.encode() + b"F,A,r,1,1,AUC,nan\nF,A,r,1,2,AUC,\n", "csv: value"),
        (HEADER.encode() + b"F,A,r,one,1,AUC,0.5\n", "line 2: seed"),
        (HEADER.encode() + b"F,A,r,1.5,1,AUC,0.5\n", "line 2: seed"),
        (HEADER.encode() + b"F,A,r,,1,AUC,0.5\n", "line 2: seed"),
        (HEADER.encode() + b"F,A,r,1\n", "line 2"),
        (b"\xff\xfe", ""),
    ],
)
def test_a_broken_file_of_claims_is_refused_with_its_line(
    repository: Layout, tmp_path: Path, content: bytes, where: str
) -> None:
    path = tmp_path / "claims.csv"
    path.write_bytes(content)
    with pytest.raises(CorruptData) as error:
        load_external(load_names(repository, "repurposing"), path)
    assert where in error.value.where


@pytest.mark.parametrize("file", ["per_seed.csv", "elsewhere.csv", "summary.csv", "tables.csv"])
def test_a_broken_committed_number_is_refused_with_its_line(evidence: Layout, file: str) -> None:
    path = evidence.published / "repurposing" / file
    header, first, rest = path.read_text().split("\n", 2)
    fields = first.split(",")
    fields[6] = "many"
    path.write_text("\n".join([header, ",".join(fields), rest]))
    with pytest.raises(CorruptData) as error:
        compare_claims(evidence, Store(evidence.runs), "repurposing")
    assert f"{file}: line 2: " in error.value.where


def test_a_number_of_no_known_kind_is_refused_with_its_line(evidence: Layout) -> None:
    """It would wait for a run for ever."""
    path = evidence.published / "ddi" / "tables.csv"
    lines = path.read_text().splitlines()
    row = next(line for line in lines if ",band," in line)
    path.write_text("\n".join([*lines, row.replace(",band,", ",bend,")]))
    with pytest.raises(CorruptData, match="no statistic is called 'bend'") as error:
        compare_claims(evidence, Store(evidence.runs), "ddi")
    assert error.value.where == f"{path}: line {len(lines) + 1}: statistic"
    assert error.value.todo == (
        "known: Kruskal-Wallis H, adjusted p, band, cost, difference of means, mean, median, shown, status"
    )
    # a statistic over several methods, where nothing says over which: no run decides it
    path.write_text("\n".join([*lines, row.replace(",band,", ",median,")]))
    (median,) = (
        one
        for one in compare_claims(evidence, Store(evidence.runs), "ddi").comparisons
        if one.claim.statistic == "median"
    )
    assert median.verdict is ClaimVerdict.NOT_COMPARABLE and "contrasts.toml" in median.reason


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("contrasts.toml", '["FastaiCollabWrapper", "NIMCGCN"]', '["Fastai", "NIMCGCN"]', "breaks its schema"),
        ("contrasts.toml", '"NN against GB"', '"NN or GB"', "no contrast is called"),
        ("summary.csv", "Cdataset,HAN,random_simple", "Cdataset,HANG,random_simple", "no published mean of HAN"),
    ],
)
def test_a_study_that_does_not_fit_its_claims_is_refused(
    evidence: Layout, file: str, old: str, new: str, said: str
) -> None:
    path = evidence.published / "repurposing" / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises((CorruptData, ManifestError), match=said):
        compare_claims(evidence, Store(evidence.runs), "repurposing")


def test_a_cut_archive_and_an_absent_file_are_told_apart(repository: Layout, tmp_path: Path) -> None:
    names = load_names(repository, "repurposing")
    path = tmp_path / "claims.csv.gz"
    whole = gzip.compress(HEADER.encode() * 50)
    damages = (whole[:-20], b"no archive", whole[:10] + b"\xff" * 20, gzip.compress(HEADER.encode() + b"\xe9"))
    for damaged in damages:
        path.write_bytes(damaged)
        with pytest.raises(CorruptData, match="claims can't be read: ") as error:
            load_external(names, path)
        assert (error.value.where, error.value.todo) == (str(path), "obtain the file again")
    with pytest.raises(MissingData):
        load_external(names, tmp_path / "absent.csv")
    with pytest.raises(UsageError):
        load_names(repository, "repurpose")


def test_claims_may_be_there_before_their_benchmark(evidence: Layout) -> None:
    names = (evidence.published / "repurposing" / "names.toml").read_text()
    later = evidence.published / "later"
    later.mkdir()
    (later / "names.toml").write_text(names.replace('benchmark = "repurposing"', 'benchmark = "later"'))
    assert dict(load_names(evidence, "later").options) == {"inner_folds": 5}


def test_the_exit_code_is_1_only_for_a_deviation(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    go_to(evidence, monkeypatch)
    with pytest.raises(SystemExit) as bad:
        main(["compare", "--method", "als_wr", "--dataset", "synthetic"])
    assert bad.value.code == 1
    Store(evidence.runs).remove(planned_of(made_up.cells[2]).key)
    Store(evidence.runs).remove(planned_of(made_up.cells[3]).key)
    with pytest.raises(SystemExit) as good:
        main(["compare", "--method", "als_wr", "--json"])
    assert good.value.code == 0
    assert json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))["benchmark"] == "repurposing"
