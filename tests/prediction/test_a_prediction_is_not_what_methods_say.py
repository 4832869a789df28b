"""From runs to a prediction, a made-up predictor in place of containers: every word and row is written out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness import benchmarks
from harness.base.errors import DataError, HarnessError
from harness.base.layout import Layout
from harness.base.progress import Silent
from harness.base.vocabulary import Verdict
from harness.benchmarks import Ranking
from harness.benchmarks.new_item import Kind
from harness.benchmarks.reading import Reading
from harness.data.own_dataset import new_dataset
from harness.engine import Engine
from harness.execution.campaign import Choices
from harness.methods.card import load_method
from harness.planning.cells import Cell
from harness.planning.jobs import Job, PlannedJob
from harness.planning.plan import Plan
from harness.prediction import Participant, Prediction, PredictionRequest, participants, predict
from harness.prediction import prediction as module
from harness.prediction.names import Selection
from harness.prediction.participants import Participation
from harness.prediction.prediction import PredictingMethod
from harness.prediction.rows import RankedRows
from harness.splits.spec import SplitSpec

_TYPES = ("head", "tail", "type", "score")
_DDI = Reading(
    ("A row is a guess.",), answers=("type",), exchangeable=("head", "tail"), known=((("a", "b"), "up"),)
)
_MIRRORS = (Path("/a mirror"), Path("/another"))
_DATASET = {"ddi": "synthetic_ddi", "repurposing": "synthetic", "combos": "combos_corpus"}


@dataclass
class Scene:
    """Methods with what each says, or the verdict and reason of a run that failed; and what was called."""

    repository: Layout
    benchmark: str
    reading: Reading
    says: dict[str, list[tuple[Any, ...]] | tuple[Verdict, str]]
    reads: dict[str, list[str]] = field(default_factory=dict)
    calls: list[Any] = field(default_factory=list)
    # what is in the dataset, by its lists
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # failures of which nothing is stored, and those that could not even be planned
    unstored: tuple[str, ...] = ()
    unplanned: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[Participant, ...]:
        return tuple(self._member(name) for name in self.says)

    def _member(self, name: str) -> Participant:
        card = load_method(self.repository, name)
        card = card.model_copy(update={"inputs": self.reads.get(name, ["smiles"])})
        job = Job(
            benchmark=self.benchmark,
            method=name,
            dataset="the larger one",
            split=SplitSpec(strategy="new_drugs", seed=3),
            options={"inner_folds": 0} if self.benchmark == "repurposing" else {},
        )
        return Participant(card, "published", f"why {name}", job, (f"of {name}",))

    def planned(self, job: Job) -> PlannedJob | None:
        if job.method in self.unplanned:
            return None
        return PlannedJob(job=job, image_tree="1" * 64, dataset_digest="2" * 64, split_digest="3" * 64)

    def key(self, name: str) -> str:
        planned = self.planned(self._member(name).job)
        return planned.key if planned else ""

    def cells(self, *, ended: bool) -> list[Cell]:
        cells = []
        for name, said in self.says.items():
            planned = self.planned(self._member(name).job)
            job = self._member(name).job
            if not ended:
                cells.append(Cell(job, planned))
            elif isinstance(said, tuple):
                record = {} if name in self.unstored + self.unplanned else {"a": "record"}
                cells.append(Cell(job, planned, *said, record))
            else:
                record = {"finished": f"when {name} ended", "harness_version": "1.2"}
                cells.append(Cell(job, planned, Verdict.OK, "fine", record))
        return cells

    def answer(
        self, monkeypatch: pytest.MonkeyPatch, selection: Selection | None = None, **asked: Any
    ) -> Prediction:
        """What is predicted where the runs end as they do here."""
        layout, engine, progress = self.repository, cast(Engine, "an engine"), Silent()
        plan, before = Plan("predict", tuple(self.cells(ended=False))), self.cells(ended=False)

        def split_digest(own: Layout, dataset: str, split: SplitSpec, mirrors: Sequence[Path]) -> str:
            assert (own, mirrors) == (layout, _MIRRORS)
            self.calls.append(("split", dataset, split))
            return ""

        def make_plan(own: Layout, name: str, jobs: Sequence[Job], *, mirrors: Sequence[Path] = ()) -> Plan:
            assert (own, name, mirrors) == (layout, "predict", _MIRRORS)
            assert jobs == [member.job for member in self.members]
            return plan

        def join(own: Plan, store: Any, *, records: bool = False) -> list[Cell]:
            assert own is plan and store.folder == layout.runs and records
            return self.cells(ended=True) if "run" in self.calls else before

        def run_cells(own: Layout, cells: Any, with_: Any, **choices: Any) -> None:
            assert (own, cells, with_) == (layout, before, engine)
            assert choices == {"choices": Choices(mirrors=_MIRRORS), "progress": progress, "name": "predict"}
            self.calls.append("run")

        def truth_of(own: Layout, job: Job, mirrors: Sequence[Path]) -> Any:
            assert (own, job, mirrors) == (layout, self.members[0].job, _MIRRORS)
            return SimpleNamespace(
                job=job, dataset=SimpleNamespace(names=self.names), read=self._read, ranking=self._ranking
            )

        def reading_of(benchmark: str, dataset: Any) -> Reading:
            assert benchmark == self.benchmark and dataset.names == self.names
            return self.reading

        for name, value in (
            ("split_digest", split_digest),
            ("refuse_nothing", lambda _, job, mirrors: self.calls.append(("asks", job.dataset))),
            ("make_plan", make_plan),
            ("join", join),
            ("run_cells", run_cells),
            ("truth_of", truth_of),
            ("reading_of", reading_of),
        ):
            monkeypatch.setattr(module, name, value)
        dataset = _DATASET[self.benchmark]
        request = PredictionRequest(methods=tuple(self.says), dataset=dataset, **asked)
        participation = Participation(self.members, selection or Selection(), ("x does not take part: a reason",))
        return predict(layout, engine, request, participation, mirrors=_MIRRORS, progress=progress)

    def _read(self, folder: Path) -> str:
        (name,) = (one for one in self.says if self.key(one) == folder.name)
        assert folder == self.repository.runs / folder.name[:2] / folder.name
        return name

    def _ranking(self, answer: str, top: int | None) -> Ranking:
        assert top is None, "ranks are among all rows"
        rows = self.says[answer]
        assert isinstance(rows, list)
        width = len(rows[0])
        return Ranking(_TYPES if width == 4 else ("drug", "disease", "score"), tuple(rows))


_MLP = [
    ("new", "b", "up", 5.0),
    ("b", "new", "down", 4.0),
    ("c", "new", "up", 4.0),
    ("a", "new", "down", 4.0),
    ("newer", "a", "up", 1.0),
]
_OTHER = [("new", "c", "down", 0.75), ("new", "b", "up", 0.5), ("b", "new", "up", 0.25)]


@pytest.fixture
def drugs(repository: Layout) -> Scene:
    """Two methods that answer, and three whose runs failed."""
    return Scene(
        repository,
        "ddi",
        _DDI,
        {
            "mlp": _MLP,
            "sagan": (Verdict.TIMEOUT, "stopped at its limit"),
            "tiger": _OTHER,
            "emergnn": (Verdict.INFRASTRUCTURE, "no engine"),
            "mste": (Verdict.MISSING_DATA, "no files"),
        },
        reads={"tiger": ["pairs"]},
        names={
            "drug_ids": ("a", "b", "c", "new", "newer"),
            "drug_names": ("A", "B", "C", "N", "M"),
            "type_names": ("up", "down"),
        },
        unstored=("emergnn",),
        unplanned=("mste",),
    )


def _failures(scene: Scene) -> tuple[str, ...]:
    return (
        "sagan/published does not take part: its run ended as 'timeout': stopped at its limit "
        f"(harness show {scene.key('sagan')[:12]} --log)",
        "emergnn/published does not take part: its run ended as 'infrastructure': no engine",
        "mste/published does not take part: its run ended as 'missing-data': no files",
    )


def _consensus(among: str) -> str:
    return (
        f"consensus: the mean over 2 methods of the rank among all {among} that were asked, from 0 (first) to 1 "
        "(last). Equal scores share the middle of their ranks; rows that a method does not list share its last "
        "ones. disagreement: the largest of these ranks less the smallest."
    )


_VOTE = (
    "type: what most methods answer; where as many answer otherwise, what the method named first answers. "
    "agreeing: how many methods answer so."
)


def test_several_methods_and_what_failed(drugs: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    found = drugs.answer(monkeypatch, top=3)
    split = SplitSpec(strategy="new_drugs", seed=3)
    assert drugs.calls == [("split", "the larger one", split), ("asks", "the larger one"), "run"]
    assert found.methods == (
        PredictingMethod(
            "mlp",
            "published",
            "why mlp",
            ("of mlp", "2 of 4 rows share their score with another: the order among them says nothing"),
            drugs.key("mlp"),
            "when mlp ended",
            "1.2",
        ),
        PredictingMethod(
            "tiger",
            "published",
            "why tiger",
            (
                "of tiger",
                "reads nothing of a new drug: its scores say nothing of 3 drugs without anything known",
            ),
            drugs.key("tiger"),
            "when tiger ended",
            "1.2",
        ),
    )
    assert [one.name for one in found.methods] == ["mlp/published", "tiger/published"]
    assert found.meaning == (
        "A row is a guess.",
        _consensus("4 rows"),
        _VOTE,
        "x does not take part: a reason",
        *_failures(drugs),
    )
    own = [f"{name}/published {what}" for name in ("mlp", "tiger") for what in ("rank", "score", "type")]
    # of four items; ranks of mlp are 1, 2.5, 2.5, 4, and of tiger 2, 1, 3.5, 3.5
    assert found.table == RankedRows(
        ("rank", "head", "tail", "type", "agreeing", "consensus", "disagreement", *own),
        (
            (1, "new", "b", "up", 2, round(1 / 6, 12), round(1 / 3, 12), 1.0, 5.0, "up", 2.0, 0.5, "up"),
            (
                *(2, "c", "new", "up", 1, 0.25, 0.5),
                *(2.5, 4.0, "up", 1.0, 0.75, "down (other order)"),
            ),
            (
                *(3, "a", "new", "down", 1, round(2 / 3, 12), round(1 / 3, 12)),
                *(2.5, 4.0, "down", None, None, None),
            ),
        ),
        3,
        4,
        4,
    )
    assert (found.benchmark, found.dataset, found.title) == (
        "ddi",
        "synthetic_ddi",
        _title(drugs.repository, "synthetic_ddi"),
    )
    assert not found.has_known and found.failures == _failures(drugs)
    assert (found.columns, found.rows) == (found.table.columns, found.table.rows)


def _title(layout: Layout, name: str) -> str:
    lines = (layout.datasets / name / "dataset.toml").read_text().splitlines()
    (title,) = (line.split('"')[1] for line in lines if line.startswith("title = "))
    return title


def test_both_orders_are_rows_where_a_person_wants_them(drugs: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    both = drugs.answer(monkeypatch, both_orders=True)
    assert (both.table.ranked, both.table.asked, both.table.among) == (6, 6, 6)
    assert [row[1:3] for row in both.rows] == [
        ("new", "b"),
        ("b", "new"),
        ("new", "c"),
        ("c", "new"),
        ("a", "new"),
        ("newer", "a"),
    ]
    assert both.meaning[1] == _consensus("6 rows")


def test_one_method_about_a_known_thing(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("x again", "p", 3.0), ("x again", "q", 2.0), ("x again", "r", 2.0), ("x again", "s", 1.0)]
    reading = Reading(("No probability.",), known=((("x", "s"), "associated"), (("y", "p"), "associated")))
    scene = Scene(
        repository,
        "repurposing",
        reading,
        {"bnnr": rows},
        reads={"bnnr": ["drug_features", "disease_features"]},
        names={"drug_ids": ("x", "y", "x again"), "disease_ids": ("p", "q", "r", "s")},
    )
    selection = Selection(own=frozenset({"x"}), named={"drug": frozenset("x")}, stands_for={"x again": "x"})
    found = scene.answer(monkeypatch, selection=selection)
    assert found.columns == ("rank", "drug", "disease", "score", "overall rank", "known")
    assert found.rows == (
        (1, "x", "p", 3.0, 1.0, None),
        (2, "x", "q", 2.0, 2.5, None),
        (3, "x", "r", 2.0, 2.5, None),
        (None, "x", "s", 1.0, None, "associated"),
    )
    assert found.meaning == (
        "No probability.",
        "overall rank: among all 3 rows that were asked; equal scores share the middle of their ranks.",
        "known: what the data say of the things that were named; such rows stand below, without a rank.",
        "x: its unknown pairs can't be asked as they are, so 'x again' was asked: something new of which all is "
        "known but its pairs. The known pairs of x were learned from under its own name.",
        "x does not take part: a reason",
    )
    assert found.has_known and found.failures == ()
    (method,) = found.methods
    told = "2 of 4 rows share their score with another: the order among them says nothing"
    assert method.remarks == ("of bnnr", told)


@pytest.mark.parametrize(
    ("reads", "remarks"),
    [
        (["drug_similarity", "disease_similarity"], []),
        (["drug_similarity"], ["disease: 1 disease"]),
        (["associations"], ["drug: 2 drugs", "disease: 1 disease"]),
    ],
)
def test_a_method_that_reads_nothing_of_what_is_new_is_said_to(
    repository: Layout, monkeypatch: pytest.MonkeyPatch, reads: list[str], remarks: list[str]
) -> None:
    rows = [("x", "p", 3.0), ("y", "q", 2.0), ("z", "p", 1.0)]
    names = {"drug_ids": ("x", "y", "z", "not listed"), "disease_ids": ("p", "q")}
    reading = Reading((), known=((("x", "p"), "associated"),))
    scene = Scene(repository, "repurposing", reading, {"bnnr": rows}, {"bnnr": reads}, names=names)
    (method,) = scene.answer(monkeypatch).methods
    assert method.remarks[1:] == tuple(
        f"reads nothing of a new {word}: its scores say nothing of {count} without anything known"
        for word, _, count in (one.partition(": ") for one in remarks)
    )
    # of a kind that comes with no inputs there is nothing to read
    with monkeypatch.context() as patch:
        patch.setattr(module, "kind_of", lambda *_: Kind("sentence", lists=("drug_ids",)))
        scene.calls = []
        assert scene.answer(monkeypatch).methods[0].remarks == ("of bnnr",)
    # where nothing is known, nothing is a newcomer
    scene.reading, scene.calls = Reading(()), []
    (method,) = scene.answer(monkeypatch).methods
    assert method.remarks == ("of bnnr",)


def test_a_benchmark_that_takes_no_items_has_no_newcomers(
    repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = Reading((), known=((("x", "p"), "fact"),))
    scene = Scene(repository, "repurposing", reading, {"bnnr": [("y", "q", 3.0)]}, {"bnnr": ["associations"]})
    scene.names = {"drug_ids": ("x", "y"), "disease_ids": ("p", "q")}
    assert len(scene.answer(monkeypatch).methods[0].remarks) == 3
    scene.calls = []
    monkeypatch.setattr(benchmarks, "part", lambda *_: None)
    assert scene.answer(monkeypatch).methods[0].remarks == ("of bnnr",)


def test_where_no_run_ends_well_nothing_is_predicted(drugs: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    drugs.says = {name: said for name, said in drugs.says.items() if isinstance(said, tuple)}
    with pytest.raises(HarnessError) as refused:
        drugs.answer(monkeypatch)
    assert refused.value.what == "\n       ".join(_failures(drugs))
    assert refused.value.where == "harness predict"
    assert refused.value.todo == "see the reasons, and the logs where there are any; or name other methods"


def test_a_request_asks_for_nothing_that_was_not_said() -> None:
    request = PredictionRequest(methods=("bnnr",), dataset="synthetic")
    told = (request.variant, request.parameters, request.seed, request.new, request.only, request.pairs)
    assert told == (None, {}, 0, (), (), ())
    assert (request.both_orders, request.top) == (False, None)


@pytest.mark.parametrize("known", ["1;-1", "1;0"])
def test_where_all_is_known_nothing_is_run(repository: Layout, tmp_path: Path, known: str) -> None:
    """A method learned for as long as it takes, and then there was nothing to rank."""
    (tmp_path / "m.csv").write_text(f";x;y\na;1;-1\nb;-1;1\nc;{known}\n")
    layout = replace(repository, cache=tmp_path / "cache", local=tmp_path / "local", data=tmp_path / "data")
    new_dataset(layout, "mine", {"associations": tmp_path / "m.csv"})
    (member,) = participants(layout, PredictionRequest(methods=("constant",), dataset="mine")).members
    if known.endswith("0"):
        module.refuse_nothing(layout, member.job)
        return
    with pytest.raises(DataError) as refused:
        module.refuse_nothing(layout, member.job)
    assert (refused.value.what, refused.value.where, refused.value.todo) == (
        "there is no test pair: all is known that could be asked",
        "dataset mine",
        "name what you ask about, something of your own or of the dataset: docs/predicting.md",
    )


def test_of_drugs_pairs_are_asked_that_are_no_items(repository: Layout, tmp_path: Path) -> None:
    job = Job(
        benchmark="ddi", method="mlp", dataset="mine", parameters={}, split=SplitSpec(strategy="new_drugs", seed=0)
    )
    (tmp_path / "i.csv").write_text("head,tail,type\n" + "".join(f"d{n},d{n + 1},x\n" for n in range(9)))
    (tmp_path / "d.csv").write_text("drug,smiles\n" + "".join(f"d{n},{'C' * (n + 1)}\n" for n in range(11)))
    layout = replace(repository, cache=tmp_path / "cache", local=tmp_path / "local", data=tmp_path / "data")
    new_dataset(layout, "mine", {"interactions": tmp_path / "i.csv", "drugs": tmp_path / "d.csv"})
    module.refuse_nothing(layout, job)
    # of a known one, beside the new, pairs with the new alone: whoever names it is told
    asked = PredictionRequest(methods=("mlp",), dataset="mine", only=(("drug", "d3"), ("drug", "d10")))
    participation = participants(layout, asked)
    assert participation.members[0].job.dataset == "mine" and participation.left_out == (
        "d3: only pairs with the drug without interactions are asked; `--pair d3 OTHER` asks about another",
    )
