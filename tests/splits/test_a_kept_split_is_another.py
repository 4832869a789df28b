"""Splits that are kept, recorded or made again: which one is handed out, and what is said of one that differs."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import harness
from harness import benchmarks
from harness.base.errors import EngineError, MissingData
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.base.vocabulary import Verdict
from harness.benchmarks.ddi.splits.form import FORM
from harness.benchmarks.ddi.splits.parts import part_split
from harness.benchmarks.ddi.splits.strategies import cluster, datasail, lohi, random
from harness.benchmarks.repurposing.splits.folds import split_of
from harness.data.datasets import dataset_digest
from harness.splits import splits
from harness.splits.checksums import Recorded, record_splits, recorded_path, recorded_splits, spec_key
from harness.splits.spec import SplitSpec
from harness.splits.strategies import examined_of, get_strategy, parameters_of, strategy_names, strategy_source
from tests.data.own_data import write_dataset
from tests.splits.made_up_drugs import made_up_drugs
from tests.splits.word_for_word import told

SPEC = SplitSpec(strategy="random", seed=3, parameters={"test_share": 0.34, "inner_folds": 0})
MANY = "drug,disease,label\n" + "".join(f"d{n},x{m},{(n + m) % 2}\n" for n in range(4) for m in range(3))


@pytest.fixture
def own(tmp_path: Path) -> Layout:
    """A dataset of a person's own, with four drugs and three diseases."""
    layout = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    layout.datasets.mkdir()
    drugs = "drug,f\n" + "".join(f"d{n},{n}\n" for n in range(4))
    diseases = "disease,f\n" + "".join(f"x{n},{n}\n" for n in range(3))
    tables = {"associations.csv": MANY, "drug_features.csv": drugs, "disease_features.csv": diseases}
    counts = {"drugs": 4, "diseases": 3, "positives": 6, "negatives": 0, "drug_features": 1}
    write_dataset(layout, tables=tables, statistics=counts)
    return layout


def test_a_split_is_made_once_and_then_known(own: Layout) -> None:
    assert splits.known_split_digest(own, "mine", SPEC) is None
    made = splits.make_split(own, "mine", SPEC)
    assert not (own.cache / "splits").exists(), "nothing is kept by making"
    digest = splits.split_digest(own, "mine", SPEC)
    path = own.cache / "splits" / f"{digest}.npy"
    assert digest == made.digest and path.is_file() and splits.split_path(own, "repurposing", digest) == path
    assert splits.known_split_digest(own, "mine", SPEC) == digest == splits.split_digest_offline(own, "mine", SPEC)
    spelt = SPEC.model_copy(update={"parameters": {"inner_folds": 0, "test_share": 0.34}})
    assert splits.known_split_digest(own, "mine", spelt) == digest
    for other in ({"seed": 4}, {"parameters": {"test_share": 0.34}}):
        assert splits.known_split_digest(own, "mine", SPEC.model_copy(update=other)) is None
    assert splits.load_split(own, "mine", SPEC).digest == digest
    path.unlink()
    assert splits.load_split(own, "mine", SPEC).digest == digest and path.is_file(), "made again"
    (note,) = (own.cache / "splits" / "made").iterdir()
    recipe = splits.recipe_of(own, "mine", SPEC)
    assert recipe["split"] == {
        "strategy": "random",
        "seed": 3,
        "parameters": {"test_share": 0.34, "inner_folds": 0},
    }
    assert recipe["strategy"] == strategy_source("repurposing", "random")
    assert recipe["dataset"] == dataset_digest(own, "mine"), "other data of the same name have another split"
    path.unlink()
    note.write_text(note.read_text().replace(digest, "0" * 64))
    assert told(lambda: splits.load_split(own, "mine", SPEC)) == (
        f"split {SPEC.label} of dataset 'mine' came out different from the one made here before",
        f"{own.cache / 'splits' / 'made'}: {'0' * 64}, made: {digest}",
        f"remove the folder {own.cache / 'splits'}, or use the environment it was made in",
    )
    note.write_text(note.read_text().replace('"seed": 3', '"seed": 4').replace('"seed":3', '"seed":4'))
    assert splits.known_split_digest(own, "mine", SPEC) is None, "a note of other content is none"


@pytest.mark.parametrize(
    "damaged",
    [
        lambda note: "",
        lambda note: json.dumps(note)[:-9],
        lambda note: json.dumps([note]),
        lambda note: json.dumps(note["sha256"]),
        lambda note: "{}",
        lambda note: json.dumps({name: note[name] for name in ("dataset", "split", "strategy")}),
        lambda note: json.dumps({**note, "sha256": None}),
        lambda note: json.dumps({**note, "sha256": ""}),
        lambda note: json.dumps({**note, "strategy": "0" * 64}),
        lambda note: json.dumps({**note, "more": 1}),
    ],
)
def test_a_damaged_note_of_a_split_is_written_again(own: Layout, damaged: Callable[[Any], str]) -> None:
    digest = splits.split_digest(own, "mine", SPEC)
    (path,) = (own.cache / "splits" / "made").iterdir()
    whole = path.read_text()
    path.write_text(damaged(json.loads(whole)))
    assert not splits.known_split_digest(own, "mine", SPEC)
    assert splits.split_digest(own, "mine", SPEC) == digest and path.read_text() == whole


def test_a_changed_split_file_is_told(own: Layout) -> None:
    digest = splits.split_digest(own, "mine", SPEC)
    path = splits.split_path(own, "repurposing", digest)
    path.write_bytes(npy_bytes(np.zeros((4, 3), dtype=np.int8)))
    assert told(lambda: splits.load_split(own, "mine", SPEC)) == (
        "a split file was changed",
        str(path),
        "remove it; it will be made again from its recipe",
    )


def test_a_recorded_split_is_the_only_one(own: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    made = splits.make_split(own, "mine", SPEC)
    line = splits.as_recorded("repurposing", SPEC, made)
    assert (line.spec, line.training, line.test, line.sha256) == (SPEC, 7, 5, made.digest)
    record_splits(own, "mine", [line])
    assert splits.split_digest(own, "mine", SPEC) == made.digest
    assert splits.verify_split(own, "mine", SPEC, made) == []
    other = splits.make_split(own, "mine", SPEC.model_copy(update={"seed": 9}))
    broken = [f"its sha256 is {other.digest}, recorded is {made.digest}"]
    assert splits.verify_split(own, "mine", SPEC, other) == broken
    assert splits.verify_split(own, "mine", SPEC, other, recorded=False) == []
    path = own.datasets / "mine" / "splits.csv"
    path.write_text(path.read_text().replace(made.digest, "0" * 64))
    assert told(lambda: splits.load_split(own, "mine", SPEC)) == (
        f"split {SPEC.label} of dataset 'mine' came out different from the published one",
        f"{path}: {'0' * 64}, made: {made.digest}",
        "use the locked environment of run_all.sh; a published split never changes",
    )
    assert splits.describe_split(own, "mine", SPEC, made) == {"pairs": {"training": 7, "test": 5}}
    strange: Any = SimpleNamespace(folds=np.zeros((1, 1), dtype=np.int8), digest="x")
    assert splits.verify_split(own, "mine", SPEC, strange, recorded=False) == [
        "the split is (1, 1), the dataset (4, 3)"
    ]
    # what is wrong with every split hides nothing that this strategy promises
    empty = split_of(np.zeros((4, 3), dtype=np.int8))
    broken = splits.verify_split(own, "mine", SPEC, empty, recorded=False)
    assert broken[0] == "there is no test pair" and "0 pairs are test pairs, not 5" in broken
    # and what its strategy promises nothing that is promised of its seed
    draws = "harness.benchmarks.repurposing.splits.strategies.random.broken_draws"
    monkeypatch.setattr(draws, lambda *given: [f"seed {given[2]} draws others"], raising=False)
    of_seed = f"seed {SPEC.seed} draws others"
    assert splits.verify_split(own, "mine", SPEC, empty, recorded=False) == [*broken, of_seed]
    assert splits.verify_split(own, "mine", SPEC, made, recorded=False) == [of_seed]


@pytest.mark.parametrize("recorded", ["nothing", "the split", "the arrays"])
def test_files_that_only_a_mirror_has_do_for_all_that_is_asked_of_a_split(
    own: Layout, tmp_path: Path, recorded: str
) -> None:
    made = splits.make_split(own, "mine", SPEC)
    if recorded == "the split":
        record_splits(own, "mine", [splits.as_recorded("repurposing", SPEC, made)])
    file = tmp_path / "split.npy"
    write_atomic(file, benchmarks.get("repurposing").form.content(made))
    path, mirror = own.datasets / "mine" / "dataset.toml", tmp_path / "mirror" / "data.example" / "own"
    if recorded == "the arrays":
        path.write_text(f'{path.read_text()}[converted]\ndigest = "{dataset_digest(own, "mine")}"\n')
    mirror.mkdir(parents=True)
    for table in path.parent.glob("*.csv"):
        if table.name != "splits.csv":
            path.write_text(
                path.read_text().replace(f'"{table.name}"\n', f'"{table.name}"\n{url_of(table.name)}\n')
            )
            table.rename(mirror / table.name)
    place = (own, "mine", SPEC)
    mirrors = [tmp_path / "mirror"]
    asked: dict[str, Callable[[], Any]] = {
        "digest": lambda: splits.split_digest(*place, mirrors),
        "load": lambda: splits.load_split(*place, mirrors).digest,
        "load again": lambda: splits.load_split(*place, mirrors).digest,
        "make": lambda: splits.make_split(*place, mirrors).digest,
        "verify": lambda: splits.verify_split(*place, made, mirrors),
        "describe": lambda: splits.describe_split(*place, made, mirrors),
        "read": lambda: splits.read_split_file(own, "mine", file, mirrors).digest,
        "recipe": lambda: splits.recipe_of(*place, mirrors)["dataset"],
    }
    found = {}
    for name, ask in asked.items():
        # with no array at hand, each has to fetch its files
        shutil.rmtree(own.cache / "datasets", ignore_errors=True)
        if name != "load again":
            shutil.rmtree(own.cache / "splits", ignore_errors=True)
        else:
            splits.split_path(own, "repurposing", made.digest).unlink()
        found[name] = ask()
    assert found == {
        **dict.fromkeys(("digest", "load", "load again", "make", "read"), made.digest),
        "verify": [],
        "describe": {"pairs": {"training": 7, "test": 5}},
        "recipe": dataset_digest(own, "mine", mirrors=mirrors),
    }


def url_of(name: str) -> str:
    return f'urls = ["https://data.example/own/{name}"]'


def test_recorded_splits_are_a_table_in_which_a_change_is_one_line(own: Layout) -> None:
    path = recorded_path(own, "mine")
    lines = [Recorded(SPEC.model_copy(update={"seed": seed}), 7, 5, str(seed) * 64) for seed in (3, 1)]
    for count in (1, 2):
        record_splits(own, "mine", lines[:count])
    parameters = '"{""inner_folds"":0,""test_share"":0.34}"'
    assert path.read_bytes().decode() == (
        "strategy,parameters,seed,training,test,sha256\n"
        f"random,{parameters},3,7,5,{'3' * 64}\n"
        f"random,{parameters},1,7,5,{'1' * 64}\n"
    )
    assert list(recorded_splits(own, "mine").values()) == lines


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_recorded_split_of_an_endless_parameter_is_named_by_its_line(own: Layout, number: str) -> None:
    """No key can hold such a number."""
    path = own.datasets / "mine" / "splits.csv"
    line = f'random,"{{""test_share"":{number}}}",1,7,5,{"0" * 64}\n'
    path.write_text(f"strategy,parameters,seed,training,test,sha256\n{line.replace(number, '0.5')}{line}")
    assert told(lambda: recorded_splits(own, "mine")) == (
        "a recorded split can't be read",
        f"{path}: line 3",
        "restore the file from the repository",
    )


def test_to_look_at_what_was_run_nothing_is_fetched(
    repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a dataset whose digest is recorded and whose files are not here; no seed of the split is published."""
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)
    monkeypatch.setattr("harness.data.datasets.obtain_all", lambda *_: pytest.fail("it was to be fetched"))
    bare = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    assert splits.split_digest_offline(bare, "fdataset", SPEC) is None


def test_a_split_that_can_not_be_made_is_told_by_its_name(own: Layout) -> None:
    tight = SplitSpec(strategy="random", seed=1, parameters={"test_share": 0.01})
    what, where, todo = told(lambda: splits.make_split(own, "mine", tight))
    assert what == "split random:test_share=0.01: the pairs can't be shared out by label"
    assert where == "dataset mine, test_share 0.01"
    assert todo == "give every label at least two pairs, or choose another test_share"
    wrong = SplitSpec(strategy="random", seed=1, parameters={"share": 1, "test_share": 2})
    what, where, todo = told(lambda: parameters_of("repurposing", wrong))
    assert what == "a parameter of split strategy 'random' is wrong"
    assert where.splitlines()[0].startswith("split random:share=1,test_share=2: ") and len(where.splitlines()) == 2
    assert todo == "`harness split list` shows what a strategy accepts"
    for other in ("clusters", "weakly_correlated"):
        what, _, _ = told(partial(get_strategy, "ddi", other))
        assert "split strategy of ddi" in what and other in what
    assert spec_key("a", {"z": 1, "b": None}, 5) == 'a {"b":null,"z":1} 5'


@pytest.mark.parametrize(("fold", "use"), [(0, "test on"), (-1, "learn from")])
def test_a_split_of_one_part_alone_is_none(
    own: Layout, monkeypatch: pytest.MonkeyPatch, fold: int, use: str
) -> None:
    """Whoever planned it learnt that from a container that had run for hours."""
    made = split_of(np.full((4, 3), fold, dtype=np.int8))
    monkeypatch.setattr(splits, "get_strategy", lambda *_: SimpleNamespace(make=lambda *_: made))
    what, where, todo = told(lambda: splits.make_split(own, "mine", SPEC))
    assert what == f"split {SPEC.label}: nothing is left to {use}" and where == "dataset mine"
    assert todo == "choose another split, other parameters, or data of more items"
    # of what is asked for use there may be no item
    for_use = SplitSpec(strategy=benchmarks.get("repurposing").scoring.predicting, seed=1)
    assert splits.make_split(own, "mine", for_use) is made


def test_a_split_of_other_data_is_not_described(own: Layout) -> None:
    other = split_of(np.zeros((3, 3), dtype=np.int8))
    what, where, todo = told(lambda: splits.describe_split(own, "mine", SPEC, other))
    assert what == "this is no split of dataset 'mine'" and where == f"the file with sha256 {other.digest}"
    assert todo == "name the dataset that it was made of"
    assert splits.describe_split(own, "mine", SPEC, splits.make_split(own, "mine", SPEC))["pairs"]["test"] > 0


def test_data_that_a_split_lacks_are_missing_not_corrupt(own: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """The study of BETA counts tasks that lack data, and stops at all other faults."""

    def make(*_: Any) -> None:
        raise MissingData("the classes are not public", where="dataset mine", todo="bring them")

    monkeypatch.setattr(splits, "get_strategy", lambda *_: SimpleNamespace(make=make))
    with pytest.raises(MissingData, match=f"split {SPEC.text}: the classes are not public"):
        splits.make_split(own, "mine", SPEC)


def test_strategies_are_those_of_their_benchmarks() -> None:
    names = set(strategy_names("ddi")) | set(strategy_names("repurposing"))
    assert names <= set(strategy_names()) and list(strategy_names()) == sorted(set(strategy_names()))
    assert examined_of("ddi", "cluster")[1:] == [
        "Shares as far as whole clusters allow, one role per cluster, no two roles nearer than gamma",
        "What it promises of drugs, and S0 has its shares",
    ]
    assert len({strategy_source("ddi", name) for name in ("random", "cluster", "datasail")}) == 3


def test_a_split_rests_on_code_below_its_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a copy of the harness, in which a module is changed that every split of drugs is kept by."""
    copy = tmp_path / "harness"
    shutil.copytree(Path(harness.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("harness.splits.strategies._PACKAGE", copy)
    before = strategy_source.__wrapped__("ddi", "cluster")
    path = copy / "base" / "npy.py"
    path.write_text(f"{path.read_text()}\nMORE = 1\n")
    assert strategy_source.__wrapped__("ddi", "cluster") != before


def test_a_drug_split_is_described_with_its_groups_and_its_threshold(tmp_path: Path) -> None:
    dataset = made_up_drugs(60, 5)
    split = random.make(dataset, 1, random.Parameters())

    def described(strategy: Any, **parameters: Any) -> dict[str, dict[str, Any]]:
        return FORM.describe(split, dataset, strategy, strategy.Parameters(**parameters))

    assert list(described(random)["known-new pairs above"]) == ["0.55:"] and "groups" not in described(random)
    assert list(described(lohi, threshold=0.3)["known-new pairs above"]) == ["0.3:"]
    found = described(cluster, gamma=0.7)
    assert next(iter(found)) == "groups" and list(found["known-new pairs above"]) == ["0.7:"]
    assert FORM.usual_seed == 124 and FORM.fits(split, dataset)
    assert not FORM.fits(split, made_up_drugs(61, 5)) and not FORM.fits(
        part_split(split.drugs, split.items[1:]), dataset
    )
    path = tmp_path / "x.npy"
    path.write_bytes(FORM.content(split))
    assert FORM.read(path, lambda: dataset).digest == split.digest
    assert FORM.broken_promises(split, dataset) == []


# DataSAIL's container


@pytest.mark.parametrize("verdict", [Verdict.OK, Verdict.TIMEOUT])
def test_datasail_runs_behind_walls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdict: Verdict) -> None:
    from harness.execution.runs import INIT

    layout = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    seen: list[Any] = []

    class Engine:
        def __enter__(self) -> Engine:
            seen.append("engine")
            return self

        def __exit__(self, *_: object) -> None:
            seen.append("closed")

    roles, clusters = np.array([0, 1, 2], dtype=np.int32), np.array([0, 1, 1], dtype=np.int32)
    for name, array in (("roles", roles), ("clusters", clusters)):
        (tmp_path / f"{name}.npy").write_bytes(npy_bytes(array))
    (tmp_path / "log").write_bytes(b"a" * 2001 + b"\xff")
    outcome = SimpleNamespace(
        verdict=verdict,
        reason="it took too long",
        log=tmp_path / "log",
        out_folder=tmp_path,
        discard=lambda: seen.append("discarded"),
    )
    asked: list[Any] = []
    monkeypatch.setattr("harness.base.layout.find_layout", lambda: layout)
    monkeypatch.setattr("harness.engine.find_engine", lambda _: Engine())
    image = SimpleNamespace(name="an/image", image_id="sha256:1")
    monkeypatch.setattr("harness.images.ensure_environment", lambda *about: asked.append(about[2]) or image)  # type: ignore[func-returns-value]
    monkeypatch.setattr("harness.execution.runs.execute", lambda _, request: asked.append(request) or outcome)  # type: ignore[func-returns-value]
    if verdict is Verdict.OK:
        answer = datasail._run(tmp_path / "in", 3)
        assert answer.roles.tolist() == [0, 1, 2] and answer.clusters.tolist() == [0, 1, 1]
        assert answer.clusters.dtype == np.int64
    else:
        with pytest.raises(EngineError) as failed:
            datasail._run(tmp_path / "in", 3)
        assert (failed.value.what, failed.value.where, failed.value.todo) == (
            f"DataSAIL ended as '{verdict}': it took too long",
            "a" * 1999 + "\N{REPLACEMENT CHARACTER}",
            "choose other parameters; `harness image verify datasail` examines its image",
        )
    assert seen == ["engine", "discarded", "closed"]
    environment, request = asked
    assert environment == "datasail" and (request.image, request.image_id) == ("an/image", "sha256:1")
    assert (request.in_folder, request.work) == (tmp_path / "in", layout.local / "work")
    assert (request.limits.seconds, request.limits.memory_bytes) == (3600, 8 << 30)
    (mount,) = request.mounts
    assert (mount.source, mount.target) == (layout.containers / "datasail" / "split.py", "/opt/split.py")
    assert request.entrypoint == (*INIT, "/opt/venv/bin/python3") and request.command == ("/opt/split.py",)
    assert request.required == request.expected == ("roles.npy", "clusters.npy")
    assert {path.name for path in datasail.FILES} >= {"split.py"} and list(datasail.FILES) == sorted(
        datasail.FILES
    )


@pytest.mark.parametrize(("epsilon", "found", "said"), [(0.05, 12, True), (0.1, 12, False), (0.1, 11, False)])
def test_datasails_shares_are_as_near_as_it_was_asked_for(epsilon: float, found: int, said: bool) -> None:
    """Of 50 drugs the largest role has 40: 0.05 of them are 2 drugs, and one more for rounding."""
    dataset: Any = SimpleNamespace(drugs=50, multilabel=False, labels=np.zeros(0))
    roles = np.repeat([0, 1, 2], [50 - found - 5 + 3, found - 3, 5]).astype(np.int32)
    split = part_split(roles, np.zeros(0, dtype=np.int32))
    wanted = [f"{found - 3} of 50 drugs are valid-new, not 5"]
    assert datasail.broken_promises(dataset, split, datasail.Parameters(epsilon=epsilon)) == (
        wanted if said else []
    )


def test_what_several_processes_record_at_once_is_all_recorded(own: Layout) -> None:
    made = splits.as_recorded("repurposing", SPEC, splits.make_split(own, "mine", SPEC))
    record_splits(own, "mine", [made])
    each, workers = 8, 3

    def record(worker: int) -> None:
        for number in range(each):
            spec = SPEC.model_copy(update={"seed": 100 * (worker + 1) + number})
            record_splits(own, "mine", [replace(made, spec=spec)])

    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=record, args=(worker,)) for worker in range(workers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * workers
    lines = recorded_path(own, "mine").read_text().splitlines()
    assert len(lines) == 1 + 1 + each * workers == len(set(lines))
    assert not [path for path in (own.datasets / "mine").iterdir() if "lock" in path.name]
