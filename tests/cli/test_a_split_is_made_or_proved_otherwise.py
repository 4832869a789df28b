"""`harness split`: which splits are meant by what is typed, what is examined of each, and how that is told."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.cli import split as commands
from harness.cli.split import _published_counts, _specs_to_verify, one_per_split, show, tell, verify_one
from harness.cli.splitting.options import SplitRequest, one_of, split_options
from harness.splits import load_split
from harness.splits.checksums import recorded_splits
from harness.splits.spec import SplitSpec
from harness.splits.splits import as_recorded, benchmark_of, complete, describe_split, recorded_split, split_path
from harness.splits.strategies import examined_of, get_strategy, strategy_names
from tests.cli.calls import document, harness_of
from tests.conftest import REPOSITORY

RANDOM = SplitSpec(strategy="random", seed=124)
DDI = "synthetic_ddi"


pytestmark = pytest.mark.usefixtures("repository_here")


@click.command()
@split_options
def asking(request: SplitRequest) -> SplitRequest:
    """What a person asks for."""
    return request


def asked(*words: str) -> SplitRequest:
    result = CliRunner().invoke(asking, words, standalone_mode=False, catch_exceptions=False)
    assert isinstance(result.return_value, SplitRequest)
    return result.return_value


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        ((DDI,), SplitRequest(DDI, None, (), {})),
        ((DDI, "cluster"), SplitRequest(DDI, "cluster", (), {})),
        (("--dataset", DDI, "cluster"), SplitRequest(DDI, "cluster", (), {})),
        (("--dataset", DDI, DDI, "cluster"), SplitRequest(DDI, "cluster", (), {})),
        (("--dataset", DDI), SplitRequest(DDI, None, (), {})),
        ((DDI, "--strategy", "cluster"), SplitRequest(DDI, "cluster", (), {})),
        ((DDI, "cluster", "--strategy", "cluster"), SplitRequest(DDI, "cluster", (), {})),
        (
            ("--dataset", DDI, "--strategy", "cluster", "--seed", "2", "--seed", "1"),
            SplitRequest(DDI, "cluster", (2, 1), {}),
        ),
        ((DDI, "cluster", "--set", "a=1", "--set", "b=x"), SplitRequest(DDI, "cluster", (), {"a": 1, "b": "x"})),
        ((DDI, "cluster", "--gamma", "0"), SplitRequest(DDI, "cluster", (), {"gamma": 0.0})),
        (
            (DDI, "cluster", "--set", "a=1", "--gamma", "0.55"),
            SplitRequest(DDI, "cluster", (), {"a": 1, "gamma": 0.55}),
        ),
        (
            (DDI, "cluster:gamma=0.6,b=x", "--set", "a=1"),
            SplitRequest(DDI, "cluster", (), {"a": 1, "gamma": 0.6, "b": "x"}),
        ),
        ((DDI, "--strategy", "cluster:b=2"), SplitRequest(DDI, "cluster", (), {"b": 2})),
    ],
)
def test_a_split_is_named_by_place_or_by_option(words: tuple[str, ...], request_: SplitRequest) -> None:
    assert asked(*words) == request_


@pytest.mark.parametrize(
    ("words", "what", "todo"),
    [
        ((), "no dataset is named", "give it by its place, or as --dataset NAME"),
        (("--strategy", "random"), "no dataset is named", "give it by its place, or as --dataset NAME"),
        ((DDI, "a", "--strategy", "b"), "two are named as strategy: 'a' and 'b'", "name one"),
        (("hdvd", "a", "--dataset", DDI), f"two are named as dataset: 'hdvd' and '{DDI}'", "name one"),
        ((DDI, "a", "--gamma", "1", "--set", "gamma=2"), "gamma is set twice: 2 and 1.0", "set it once"),
        ((DDI, "a:gamma=2", "--gamma", "1"), "gamma is set twice: 2 and 1.0", "set it once"),
        ((DDI, "a:gamma"), "'gamma' sets nothing", "write it as name=value"),
        ((DDI, "a:b=1,"), "'' sets nothing", "write it as name=value"),
    ],
)
def test_two_names_for_one_thing_or_none_are_refused(words: tuple[str, ...], what: str, todo: str) -> None:
    with pytest.raises(UsageError) as error:
        asked(*words)
    assert (error.value.what, error.value.todo) == (what, todo)


def test_a_name_is_that_of_its_place_or_of_its_option() -> None:
    assert one_of("dataset", "a", None) == one_of("dataset", None, "a") == one_of("dataset", "a", "a") == "a"


def test_a_split_is_one_for_each_seed(repository: Layout) -> None:
    def seeds(dataset: str, strategy: str | None, *seeds: int, published: bool = False) -> list[int]:
        specs = SplitRequest(dataset, strategy, seeds, {"a": 1}).specs(repository, published=published)
        assert {(one.strategy, str(one.parameters)) for one in specs} == {(strategy, "{'a': 1}")}
        return [one.seed for one in specs]

    published = list(benchmarks.get("repurposing").form.published_seeds())
    assert seeds(DDI, "random") == [benchmarks.get("ddi").form.usual_seed] == [124]
    assert seeds(DDI, "random", 7, 0, 7) == seeds("synthetic", "random", 7, 0) == [7, 0]
    assert seeds("synthetic", "random", published=True) == published and len(published) == 100
    assert seeds("synthetic", "random", 5, published[1], published=True)[:3] == [5, published[1], published[0]]
    with pytest.raises(UsageError, match="no seed is named") as error:
        seeds("synthetic", "random")
    assert error.value.todo == "give --seed N; harness split make also takes --published"
    with pytest.raises(UsageError, match="no strategy is named") as error:
        seeds("synthetic", None, 1)
    assert error.value.todo == "give it after the dataset, or as --strategy NAME"


def test_a_strategy_is_listed_with_what_is_published_of_it(repository: Layout) -> None:
    rows = document(harness_of("split", "list", "--json"))["rows"]
    assert [(row["benchmark"], row["name"]) for row in rows] == [
        (benchmark, name) for benchmark in benchmarks.names() for name in strategy_names(benchmark)
    ]
    # strategies of several benchmarks may have one name
    assert all(benchmark_of(repository, name) == row["benchmark"] for row in rows for name in row["published"])
    row = next(row for row in rows if (row["benchmark"], row["name"]) == ("repurposing", "weakly_correlated"))
    strategy = get_strategy("repurposing", "weakly_correlated")
    counts = {"cdataset": 100, "fdataset": 100, "hdvd": 100, "lrssl": 100, "synthetic": 100}
    assert {name: count for name, count in row["published"].items() if count} == counts
    assert row["summary"] == strategy.SUMMARY
    assert row["parameters"] == strategy.Parameters().model_dump(mode="json")
    lines = harness_of("split", "list").stdout.splitlines()
    place = lines.index(f"repurposing weakly_correlated: {strategy.SUMMARY}")
    parameters = ", ".join(
        f"{name}={value}" for name, value in strategy.Parameters().model_dump(mode="json").items()
    )
    published = ", ".join(f"{name} ({count})" for name, count in counts.items())
    assert lines[place + 1 : place + 3] == [f"  parameters: {parameters}", f"  published:  {published}"]
    assert len(lines) == 3 * len(rows)
    place = next(number for number, line in enumerate(lines) if line.startswith("ddi new_drugs: "))
    assert lines[place + 1 : place + 3] == ["  parameters: none", "  published:  none"]
    counts = Counter(line.spec.strategy for line in recorded_splits(repository, DDI).values())
    assert {name: _published_counts(repository, "ddi", name)[DDI] for name in counts} == counts


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is published from here on, and where."""
    lines: list[Any] = []
    monkeypatch.setattr(
        commands, "record_splits", lambda _layout, dataset, found: lines.append((dataset, [*found]))
    )
    return lines


def test_splits_are_made_copied_and_described(recorded: list[Any], tmp_path: Path, repository: Layout) -> None:
    line = recorded_split(repository, DDI, RANDOM)
    assert line is not None
    kept = split_path(repository, "ddi", line.sha256)
    result = harness_of("split", "make", DDI, "random")
    lines = result.stdout.splitlines()
    assert lines[0] == f"random-124  {line.sha256}  {kept}" and recorded == []
    assert all(one.startswith("  ") for one in lines[1:]) and len(lines) > 2
    words = ("split", "make", DDI, "random", "--seed", "124", "--seed", "125", "--to", str(tmp_path), "--record")
    told = document(harness_of(*words, "--json"))
    names = [f"{DDI}-random-{seed}{kept.suffix}" for seed in (124, 125)]
    assert [row["file"] for row in told["rows"]] == [str(tmp_path / name) for name in names]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert (tmp_path / names[0]).read_bytes() == kept.read_bytes()
    assert {(row["dataset"], row["split"]) for row in told["rows"]} == {(DDI, "random-124"), (DDI, "random-125")}
    about = describe_split(repository, DDI, RANDOM, load_split(repository, DDI, RANDOM))
    assert told["rows"][0]["sha256"] == line.sha256 and told["rows"][0].items() >= about.items()
    ((dataset, published),) = recorded
    split: Any = SimpleNamespace(training=line.training, test=line.test, digest=line.sha256)
    assert dataset == DDI and published[0] == line == as_recorded("ddi", RANDOM, split)
    assert len(published) == 2


def test_a_group_with_a_slash_in_its_name_is_copied_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Layout
) -> None:
    split = load_split(repository, DDI, RANDOM)
    monkeypatch.setattr(commands, "load_split", lambda *_: split)
    monkeypatch.setattr(commands, "as_recorded", lambda *_: None)
    monkeypatch.setattr(commands, "describe_split", lambda *_: {})
    harness_of("split", "make", DDI, "random", "--set", "group=a/b", "--seed", "1", "--to", str(tmp_path))
    (copy,) = tmp_path.iterdir()
    assert copy.is_file() and copy.name.startswith(f"{DDI}-random-group=a_b-1.")


def test_published_seeds_are_made_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[Any, ...]] = []

    def load(_layout: object, dataset: str, spec: SplitSpec, mirrors: tuple[Path, ...]) -> object:
        made.append((dataset, spec, mirrors))
        return SimpleNamespace(digest="1" * 64, training=1, test=1)

    monkeypatch.setattr(commands, "load_split", load)
    monkeypatch.setattr(commands, "describe_split", lambda *_: {})
    harness_of("split", "make", "synthetic", "random", "--published", "--mirror", str(REPOSITORY))
    assert len(made) == 100 and {(name, one.strategy, mirrors) for name, one, mirrors in made} == {
        ("synthetic", "random", (REPOSITORY,))
    }
    with pytest.raises(UsageError, match="no seed is named"):
        harness_of("split", "make", "synthetic", "random")


@pytest.mark.parametrize(
    ("words", "one", "meant"),
    [
        ((DDI, "random", "--seed", "3"), False, [("random", 3, {})]),
        ((DDI, "random", "--set", "test_share=0.2"), False, [("random", 124, {"test_share": 0.2})]),
        ((DDI, "random"), True, [("random", 124, {})]),
        (("hdvd", "random"), True, None),
        (("hdvd", "random"), False, None),
        ((DDI, "random"), False, None),
        ((DDI,), False, None),
        ((DDI,), True, None),
    ],
)
def test_without_seeds_the_published_splits_are_meant_or_the_usual_one(
    words: tuple[str, ...], one: bool, meant: list[Any] | None, repository: Layout
) -> None:
    request = asked(*words)
    specs = [
        (spec.strategy, spec.seed, spec.parameters) for spec in _specs_to_verify(repository, request, one=one)
    ]
    lines = recorded_splits(repository, request.dataset).values()
    every = [
        (line.spec.strategy, line.spec.seed, line.spec.parameters)
        for line in lines
        if request.strategy in (None, line.spec.strategy)
    ]
    assert specs == (every if meant is None else meant) != []


def test_a_strategy_of_which_nothing_is_published_is_proved_for_the_usual_seed(repository: Layout) -> None:
    published = {line.spec.strategy for line in recorded_splits(repository, "davis").values()}
    strategy = next(name for name in strategy_names("dti") if name not in published)
    (spec,) = _specs_to_verify(repository, SplitRequest("davis", strategy, (), {}), one=False)
    assert (spec.strategy, spec.seed) == (strategy, benchmarks.get("dti").form.usual_seed)
    with pytest.raises(UsageError, match="randon"):
        _specs_to_verify(repository, SplitRequest("hdvd", "randon", (), {}), one=False)


def test_what_no_seed_tells_is_not_proved_by_other_splits_or_by_none(repository: Layout) -> None:
    for request, fault in (
        (SplitRequest("hdvd", "random", (), {"test_share": 0.3}), "no seed is named"),
        (SplitRequest("cdataset", "unknown_pairs", (), {}), "no seed is named"),
        (SplitRequest("predict_public", None, (), {}), "no split of this dataset is published"),
    ):
        with pytest.raises(UsageError, match=fault):
            _specs_to_verify(repository, request, one=False)


Row = dict[str, Any]


def row(seed: int, *, split: str = "random", digest: str = "1", broken: tuple[str, ...] = (), **more: Any) -> Row:
    usual = {"dataset": DDI, "examined": ["all roles"], "known_findings": []}
    return {**usual, "split": split, "seeds": [seed], "sha256": digest * 64, "broken": [*broken], **more}


@pytest.mark.parametrize("broken", [(), ("a role is lost",)])
def test_a_broken_promise_is_in_the_exit_code(
    broken: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[Any, ...]] = []

    def verify(
        _layout: object, dataset: str, spec: SplitSpec, path: object, mirrors: object, *, recorded: bool
    ) -> Row:
        asked.append((dataset, spec.seed, path, mirrors, recorded))
        return row(spec.seed, broken=broken if spec.seed == 2 else ())

    monkeypatch.setattr(commands, "verify_one", verify)
    words = ("split", "verify", DDI, "random", "--seed", "1", "--seed", "2", "--mirror", str(tmp_path))
    result = harness_of(*words)
    assert result.return_value == (4 if broken else 0)
    assert result.stdout.splitlines()[-1] == f"promises kept: {'1 of 2 splits' if broken else '1 of 1 split'}"
    assert asked == [(DDI, 1, None, (tmp_path,), True), (DDI, 2, None, (tmp_path,), True)]
    result = harness_of(*words, "--json")
    rows = document(result)["rows"]
    assert result.return_value == (4 if broken else 0)
    assert [one["seeds"] for one in rows] == ([[1], [2]] if broken else [[1, 2]])
    asked.clear()
    file = tmp_path / "x.npy"
    file.write_text("")
    harness_of("split", "verify", DDI, "random", "--file", str(file))
    harness_of("split", "verify", DDI, "random", "--file", str(file), "--seed", "7")
    # a file is compared with what is published of the seed that was named
    assert asked == [(DDI, 124, file, (), False), (DDI, 7, file, (), True)]


@pytest.mark.parametrize("words", [(DDI,), ("hdvd", "random"), (DDI, "random", "--seed", "1", "--seed", "2")])
def test_a_file_is_one_split(words: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a file holds one split, and it is not said which") as error:
        harness_of("split", "verify", *words, "--file", str(tmp_path / "x"))
    assert error.value.todo == "name its STRATEGY and one --seed"
    with pytest.raises(UsageError, match="--set needs a STRATEGY") as error:
        harness_of("split", "verify", DDI, "--set", "a=1")
    assert error.value.todo == "name the strategy that has the parameter"


def test_a_file_of_the_only_published_split_is_not_taken_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "x.npy").write_text("")
    monkeypatch.setattr(commands, "recorded_splits", lambda *_: {0: SimpleNamespace(spec=RANDOM)})
    with pytest.raises(UsageError, match="a file holds one split, and it is not said which"):
        harness_of("split", "verify", DDI, "--file", str(tmp_path / "x.npy"))


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repository: Layout) -> SimpleNamespace:
    """A published split that is examined: `broken` is what is found, `given` what was asked."""
    line = recorded_split(repository, DDI, RANDOM)
    assert line is not None
    case = SimpleNamespace(broken=[], given=[], made=[], line=line, split=SimpleNamespace(digest=line.sha256))
    case.layout = Layout(root=repository.root, cache=tmp_path, local=tmp_path)
    case.file = split_path(case.layout, "ddi", line.sha256)

    def verify(*given: Any, recorded: bool) -> list[str]:
        case.given.append((given, recorded))
        return [*case.broken]

    def made(*given: Any) -> object:
        case.made.append(given)
        return case.split

    monkeypatch.setattr(commands, "verify_split", verify)
    monkeypatch.setattr(commands, "make_split", made)
    monkeypatch.setattr(commands, "read_split_file", lambda *given: made("read", *given))
    monkeypatch.setattr(
        commands,
        "findings_on",
        lambda _layout, benchmark, text: [
            SimpleNamespace(title=f"{one}{benchmark} {text}") for one in ("", "on ")
        ],
    )
    return case


def test_what_is_examined_of_a_split_is_told(examined: SimpleNamespace) -> None:
    promises = examined_of("ddi", "random")
    told = verify_one(examined.layout, DDI, RANDOM, None, (), recorded=True)
    assert told == {
        "dataset": DDI,
        "split": "random",
        "seeds": [124],
        "sha256": examined.line.sha256,
        "examined": [*promises, "the recorded checksum"],
        "broken": [],
        "known_findings": [],
    }
    told = verify_one(examined.layout, DDI, RANDOM, Path("x"), (Path("m"),), recorded=False)
    assert told["examined"] == promises
    layout = examined.layout
    assert examined.given == [
        ((layout, DDI, RANDOM, examined.split, ()), True),
        ((layout, DDI, RANDOM, examined.split, (Path("m"),)), False),
    ]
    assert examined.made == [(layout, DDI, RANDOM, ()), ("read", layout, DDI, Path("x"), (Path("m"),))]
    another = RANDOM.model_copy(update={"seed": 4})
    assert verify_one(examined.layout, DDI, another, None, (), recorded=True)["examined"] == promises


def test_a_kept_file_that_was_changed_breaks_a_promise(examined: SimpleNamespace) -> None:
    examined.file.parent.mkdir(parents=True)
    examined.file.write_text("changed")
    told = verify_one(examined.layout, DDI, RANDOM, None, (), recorded=True)
    assert told["broken"] == [f"the kept file was changed: {examined.file}"]
    # of a file that was given the kept one says nothing
    assert verify_one(examined.layout, DDI, RANDOM, Path("x"), (), recorded=True)["broken"] == []


def test_a_published_split_that_breaks_a_promise_has_a_finding(examined: SimpleNamespace) -> None:
    examined.broken = ["a role is lost"]
    told = verify_one(examined.layout, DDI, RANDOM, None, (), recorded=True)
    text = f"ddi {DDI} {complete('ddi', RANDOM).text}"
    assert told["known_findings"] == [text, f"on {text}"]
    assert verify_one(examined.layout, DDI, RANDOM, None, (), recorded=False)["known_findings"] == []
    examined.split = SimpleNamespace(digest="0" * 64)
    assert verify_one(examined.layout, DDI, RANDOM, None, (), recorded=True)["known_findings"] == []


def test_seeds_that_give_one_split_are_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        row(1),
        row(2, digest="2"),
        row(3),
        row(4, broken=("lost", "shared"), known_findings=["a finding", "another"]),
        row(5, split="other", examined=["sizes", "labels"]),
    ]
    merged = one_per_split(rows)
    assert [one["seeds"] for one in merged] == [[1, 3], [2], [4], [5]] and rows[0]["seeds"] == [1]
    tell(merged)
    assert capsys.readouterr().out.splitlines() == [
        f"{DDI}, random: 3 splits",
        "  examined: all roles",
        f"  seeds 1, 3 (one split)  {'1' * 64}  proved",
        f"  seed 2  {'2' * 64}  proved",
        f"  seed 4  {'1' * 64}  BROKEN",
        "    broken: lost",
        "    broken: shared",
        "    known finding: a finding (harness list findings)",
        "    known finding: another (harness list findings)",
        f"{DDI}, other: 1 split",
        "  examined: sizes",
        "  examined: labels",
        f"  seed 5  {'1' * 64}  proved",
        "promises kept: 3 of 4 splits",
    ]


def test_facts_of_a_split_are_a_line_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    show({"pairs": {"training": 12345, "share": 0.123456}, "x": {"n": 7}})
    show({"pairs": {"n": 1}}, indent="")
    assert capsys.readouterr().out.splitlines() == [
        "  pairs  training 12,345, share 0.12346",
        "  x      n 7",
        "pairs  n 1",
    ]


def test_commands_of_benchmarks_are_there() -> None:
    own = [
        one
        for name in benchmarks.names()
        for one in getattr(benchmarks.part(name, "commands"), "SPLIT_COMMANDS", ())
    ]
    assert own and all(commands.command.commands[one.name] is one for one in own)
    assert {*commands.command.commands} == {"list", "make", "verify", *(one.name for one in own)}


def test_a_strategy_takes_no_splits_of_one_whose_name_begins_so(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = [SplitSpec(strategy=strategy, seed=1) for strategy in ("random", "random_twice", "weakly_correlated")]
    lines = {number: SimpleNamespace(spec=spec) for number, spec in enumerate(specs)}
    monkeypatch.setattr(commands, "recorded_splits", lambda *_: lines)
    assert commands._recorded_specs(layout, "synthetic", "random") == specs[:1]
    assert commands._recorded_specs(layout, "synthetic", None) == specs
