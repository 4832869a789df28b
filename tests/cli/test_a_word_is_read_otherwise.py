"""How a name, an option and a file to write are read: what is taken and completed, and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks.repurposing.statistics import RepurposingOptions
from harness.cli import names, options
from harness.cli.options import OnceCommand, benchmark_option, benchmark_options, parse_settings, request_options
from harness.cli.output import OutputFile, chosen_kind, deliver, output_option

CARD = '[variants.published]\n[variants.fixed]\n[variants."fixed_twice"]\n'


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A repository of names: methods, datasets, environments, models."""
    layout = Layout(tmp_path / "tree", tmp_path / "cache", tmp_path / "local", data=tmp_path / "own")
    files = {
        "tree/methods/one/method.toml": CARD,
        "tree/methods/other/method.toml": "[variants.published]\n[variants.late]\n",
        "tree/methods/broken/method.toml": "[variants",
        "tree/methods/none/notes.txt": "",
        "tree/methods/plain/method.toml": "",
        "tree/methods/one/weights.toml": "",
        "tree/methods/one/weights.dapt.toml": "",
        "tree/methods/one/heights.toml": "",
        "tree/containers/_base/environment.toml": "",
        "tree/containers/one/environment.toml": "",
        "tree/datasets/known/dataset.toml": "",
        "tree/datasets/half/readme.txt": "",
        "own/mine/dataset.toml": "",
        "own/Zebra/dataset.toml": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(names, "find_layout", lambda: layout)
    return layout


def context(**params: Any) -> click.Context:
    made = click.Context(click.Command("x"))
    made.params = params
    return made


def completed(kind: names.Name, beginning: str, **params: Any) -> list[str]:
    found = kind.shell_complete(context(**params), click.Argument(["x"]), beginning)
    return [one.value for one in found]


@pytest.mark.usefixtures("tree")
def test_names_are_those_of_the_tree_and_of_the_persons_own() -> None:
    assert names.METHOD.known() == ["broken", "one", "other", "plain"]
    assert names.DATASET.known() == ["Zebra", "known", "mine"]
    assert names.IMAGE.known() == ["_base", "broken", "one", "other", "plain"]
    assert names.WEIGHTS.known() == ["one", "one:dapt"]
    assert sorted(names.VARIANT.known()) == ["fixed", "fixed_twice", "late", "published"]


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("kind", "beginning", "params", "shown"),
    [
        (names.METHOD, "O", {}, ["one", "other"]),
        (names.METHOD, "", {}, ["broken", "one", "other", "plain"]),
        (names.METHOD_ROW, "plain/", {}, []),
        (names.DATASET, "z", {}, ["Zebra"]),
        (names.METHOD_ROW, "on", {}, ["one"]),
        (names.METHOD_ROW, "one/", {}, ["one/published", "one/fixed", "one/fixed_twice"]),
        (names.METHOD_ROW, "ONE/F", {}, ["one/fixed", "one/fixed_twice"]),
        (names.METHOD_ROW, "nobody/", {}, []),
        (names.METHOD_ROW, "none/", {}, []),
        (names.METHOD_ROW, "broken/", {}, []),
        (names.VARIANT, "", {"method": "one"}, ["published", "fixed", "fixed_twice"]),
        (names.VARIANT, "", {"methods": ("other", "one")}, ["published", "late", "fixed", "fixed_twice"]),
        (names.VARIANT, "FIX", {"methods": ("other", "one")}, ["fixed", "fixed_twice"]),
        (names.VARIANT, "", {"methods": (), "method": None}, ["published", "fixed", "fixed_twice", "late"]),
    ],
)
def test_what_begins_so_is_completed(
    kind: names.Name, beginning: str, params: dict[str, Any], shown: list[str]
) -> None:
    assert completed(kind, beginning, **params) == shown


def test_without_a_repository_nothing_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Layout:
        raise UsageError("this is no repository")

    monkeypatch.setattr(names, "find_layout", nowhere)
    assert completed(names.METHOD, "b") == []


def test_keys_are_those_of_both_logs_and_of_the_runs_that_lie_here(tree: Layout) -> None:
    first, second, third = (letter + "0" * 63 for letter in "abc")
    removed, mine = "ad" + "1" * 62, "ae" + "2" * 62

    def line(key: str, **fields: str) -> str:
        return json.dumps({"key": key, "kind": "record", **fields}, separators=(",", ":")) + "\n"

    tree.reference.mkdir(parents=True)
    lines = [
        line("af" + "3" * 62, kind="removal"),
        line(second, scope="b"),
        line(first, scope="the first"),
        line(first, kind="score", scope="the first"),
        line(removed),
        line(removed, kind="removal"),
    ]
    (tree.reference / "log.jsonl").write_text("".join(lines))
    (tree.local / "runs" / "ae" / mine).mkdir(parents=True)
    (tree.local / "runs" / "ae" / ".ae-half").mkdir()
    (tree.local / "runs" / "c0" / third).mkdir(parents=True)
    (tree.local / "log.jsonl").write_text(f'{{"key":"a\n{line(mine, scope="my own")}{line(first[:-1] + "1")}')
    found = names.KEY.shell_complete(context(), click.Argument(["x"]), "A")
    # what is only logged here has gone
    assert [(one.value, one.help) for one in found] == [(first[:12], "the first"), (mine[:12], "my own")]
    assert completed(names.KEY, mine[:11]) == [mine[:12]] and completed(names.KEY, mine[:12]) == [mine[:13]]
    assert completed(names.KEY, mine[:30]) == [mine[:31]]
    assert [one.help or "" for one in names.KEY.shell_complete(context(), click.Argument(["x"]), "c")] == [""]
    assert sorted(names.KEY.known()) == sorted([first, second, third, mine])
    assert names.KEY.convert("AbC", None, context()) == "AbC"
    (tree.reference / "log.jsonl").unlink()
    assert completed(names.KEY, "a") == [mine[:12]]


@pytest.mark.usefixtures("tree")
def test_a_name_is_taken_as_it_is_known_where_a_person_typed_it(capsys: pytest.CaptureFixture[str]) -> None:
    key_press = click.Context(click.Command("x"), resilient_parsing=True)
    for where in (None, key_press):
        assert names.METHOD.convert("ONE", None, where) == "ONE"
    assert names.METHOD.convert("", None, context()) == "" and capsys.readouterr().err == ""
    assert names.METHOD_ROW.convert("ONE/Fixed:a/b", None, context()) == "one/Fixed:a/b"
    assert names.DATASET.convert("ZEBRA", None, context()) == "Zebra"
    shown = capsys.readouterr()
    assert shown.err == "method ONE: taken as one\ndataset ZEBRA: taken as Zebra\n" and shown.out == ""
    assert names.METHOD.convert("Nobody/x", None, context()) == "Nobody/x" and capsys.readouterr().err == ""


def test_a_word_of_a_list_may_be_in_any_case() -> None:
    word = names.Word(one for one in ("cpu", "cuda"))
    assert word.convert("CUDA", None, None) == "cuda" and list(word.choices) == ["cpu", "cuda"]
    with pytest.raises(click.UsageError):
        word.convert("gpu", None, None)


@click.command(cls=OnceCommand)
@click.option("--seed")
@click.option("--loud", count=True)
@click.option("--method", multiple=True)
@click.option("--json", "as_json", is_flag=True)
@click.option("--markdown", is_flag=True)
@click.argument("rest", nargs=-1)
def once(**given: Any) -> dict[str, Any]:
    """What may occur once, and what may occur more often."""
    return given


def typed(command: click.Command, *words: str) -> Any:
    return (
        CliRunner()
        .invoke(command, words, prog_name="harness once", standalone_mode=False, catch_exceptions=False)
        .return_value
    )


def test_what_may_occur_once_is_refused_twice_with_its_usage() -> None:
    with pytest.raises(click.BadOptionUsage) as error:
        typed(once, "--seed", "1", "--seed", "2")
    assert error.value.format_message() == "--seed is given twice. It takes one value."
    assert error.value.option_name == "--seed" and error.value.ctx and error.value.ctx.command is once
    with pytest.raises(click.UsageError) as other:
        typed(once, "--json", "--markdown")
    assert other.value.format_message() == "--json and --markdown exclude each other"
    assert other.value.ctx and other.value.ctx.command is once
    assert typed(once, "--json", "--json", "--loud", "--loud", "--method", "a", "--method", "b", "x", "y") == {
        "seed": None,
        "loud": 2,
        "method": ("a", "b"),
        "as_json": True,
        "markdown": False,
        "rest": ("x", "y"),
    }
    assert typed(once, "--markdown")["markdown"] is True


def test_a_key_that_is_pressed_is_no_request() -> None:
    for words in (["--seed", "1", "--seed", "2"], ["--json", "--markdown"]):
        pressed = click.Context(once, resilient_parsing=True)
        once.parse_args(pressed, words)


def test_signs_of_life_name_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[str] = []

    @contextmanager
    def heartbeat(what: str) -> Iterator[None]:
        named.append(what)
        yield

    monkeypatch.setattr(options, "heartbeat", heartbeat)
    typed(once)
    assert named == ["harness once"]


@click.command()
@request_options
@click.option("--more")
def requested(**given: Any) -> dict[str, Any]:
    """What `run` and `plan` take."""
    return given


def test_options_of_a_request_come_together(tmp_path: Path) -> None:
    usual: dict[str, Any] = dict.fromkeys(("suite", "published_seeds", "variant", "upstream", "shard"))
    usual |= dict.fromkeys(("methods", "datasets", "splits", "seeds"), ())
    usual |= {"accelerator": "cpu", "parameters": {}, "options": {}}
    assert typed(requested) == {"request": usual, "more": None}
    words = ["--more", "x", "--set", "a=1", "--set", "b=[2]", "--inner-folds", "0", "--upstream", str(tmp_path)]
    told = typed(requested, *words)
    assert told["more"] == "x" and told["request"] == {
        **usual,
        "parameters": {"a": 1, "b": [2]},
        "options": {"inner_folds": 0},
        "upstream": tmp_path,
    }
    with pytest.raises(UsageError, match="a is set twice: 1 and 2"):
        typed(requested, "--set", "a=1", "--set", "a=2")


@click.command()
@benchmark_options
def fitted(options: dict[str, int]) -> dict[str, int]:
    """What a benchmark has of its own."""
    return options


def test_options_of_a_benchmark_are_taken_where_they_are_given() -> None:
    assert typed(fitted) == {} and typed(fitted, "--inner-folds", "0") == {"inner_folds": 0}
    shown = " ".join(CliRunner().invoke(fitted, ["--help"]).output.split())
    field = RepurposingOptions.model_fields["inner_folds"]
    assert f"--inner-folds INTEGER {field.description} Of repurposing; {field.default} unless given." in shown

    @click.command()
    @benchmark_option("Whose.")
    def whose(benchmark: str) -> str:
        return benchmark

    assert typed(whose) == benchmarks.default() and typed(whose, "--benchmark", "DDI") == "ddi"
    assert f"Whose. By default {benchmarks.default()}." in CliRunner().invoke(whose, ["--help"]).output


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("a=1", "a", 1),
        ("a=1.50", "a", 1.5),
        ("a=null", "a", None),
        ("a=", "a", ""),
        ("a={", "a", "{"),
        ("a=b=1", "a", "b=1"),
        ("a=nano", "a", "nano"),
    ],
)
def test_a_setting_is_json_where_it_can_be(text: str, name: str, value: object) -> None:
    assert parse_settings([text]) == {name: value} and type(parse_settings([text])[name]) is type(value)


def test_a_value_that_is_nested_too_deeply_for_json_is_a_text() -> None:
    value = "[" * 100_000
    assert parse_settings([f"a={value}"]) == {"a": value}


@pytest.mark.parametrize(
    ("text", "what", "where", "todo"),
    [
        ("alpha", "'alpha' sets nothing", "--set", "write it as name=value"),
        ("=1", "'=1' sets nothing", "--set", "write it as name=value"),
        ("a=nan", "'nan' is no finite number", "--set a=nan", "give one"),
        ("a=-inf", "'-inf' is no finite number", "--set a=-inf", "give one"),
    ],
)
def test_a_setting_that_sets_nothing_says_how_to_write_it(text: str, what: str, where: str, todo: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_settings([text])
    assert (error.value.what, error.value.where, error.value.todo) == (what, where, todo)


@pytest.mark.parametrize(
    ("one", "read"), [("0", "0"), ("", ""), ("null", "None"), ("false", "False"), ("[]", "[]")]
)
def test_a_setting_is_set_twice_whatever_it_was_set_to(one: str, read: str) -> None:
    for other in (one, "7"):
        with pytest.raises(UsageError) as error:
            parse_settings(["b=1", f"a={one}", f"a={other}"])
        assert error.value.what == f"a is set twice: {read} and {read if other == one else 7}"
        assert error.value.todo == "set it once"


@click.command()
@output_option("text", "csv", "svg", ".html", "")
def written(output: Path | None) -> Path | None:
    """What writes a file."""
    return output


@click.command()
@output_option("text", help="Write it there.", names=("--output", "--write"))
def named(output: Path | None) -> Path | None:
    """The same with a text of its own."""
    return output


def test_a_file_to_write_is_new_and_of_a_kind_that_is_known(tmp_path: Path) -> None:
    assert typed(written) is None
    for name in ("a.txt", "a.CSV", "a.svg", "a.html", "a"):
        assert typed(written, "--output", str(tmp_path / name)) == tmp_path / name
    with pytest.raises(click.UsageError) as error:
        typed(written, "--output", str(tmp_path / "a.md"))
    assert (
        f"'{tmp_path / 'a.md'}' is of no kind that is written here. Known endings: "
        in error.value.format_message()
    )
    assert error.value.format_message().endswith(": .txt, .csv, .svg, .html, none.") and error.value.ctx
    assert "'--output'" in error.value.format_message()
    (tmp_path / "old.txt").write_text("x")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "link.txt").symlink_to("nowhere")
    for name, what, where, todo in (
        ("no/a.txt", "the folder is not there", tmp_path / "no", "make it, or name another one"),
        ("folder.txt", "a folder has this name", tmp_path / "folder.txt", "remove it, or choose another name"),
        *(
            (name, "the file is there already", tmp_path / name, "choose another name, or overwrite it: --force")
            for name in ("old.txt", "empty.txt")
        ),
        (
            "link.txt",
            "a link to what is not there has this name",
            tmp_path / "link.txt",
            "choose another name, or overwrite it: --force",
        ),
    ):
        with pytest.raises(UsageError) as refused:
            typed(written, "--output", str(tmp_path / name))
        refusal = refused.value
        assert (refusal.what, refusal.where, refusal.todo) == (what, str(where), todo)
    for words in (("--force", "--output"), ("--output",)):
        rest = () if words[0] == "--force" else ("--force",)
        for name in ("old.txt", "link.txt"):
            assert typed(written, *words, str(tmp_path / name), *rest) == tmp_path / name
    assert OutputFile(".txt").convert(str(tmp_path / "new.txt"), None, None) == tmp_path / "new.txt"
    with pytest.raises(UsageError, match="the file is there already"):
        OutputFile(".txt").convert(str(tmp_path / "old.txt"), None, None)


def test_what_has_nothing_to_lose_is_written_to() -> None:
    assert OutputFile("").convert("/dev/null", None, None) == Path("/dev/null")


def test_a_pipe_is_written_into_and_stays(tmp_path: Path) -> None:
    """Its reader would wait for ever beside a file that took its place."""
    pipe = tmp_path / "a.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for content in ("é", b"x"):
            deliver(content, OutputFile(".csv").convert(str(pipe), None, None))
            assert os.read(reader, 100) == ("\ufeffé".encode() if isinstance(content, str) else content)
    finally:
        os.close(reader)
    assert pipe.is_fifo() and [*tmp_path.iterdir()] == [pipe]


def test_a_device_is_written_into_and_an_error_names_it(tmp_path: Path) -> None:
    device = tmp_path / "full.txt"
    device.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as full:
        deliver("x", device)
    assert full.value.filename == str(device) and device.is_symlink()


def test_the_help_of_a_file_says_what_it_may_be() -> None:
    shown = " ".join(CliRunner().invoke(written, ["--help"]).output.split())
    assert "--output PATH Write to this new file: .txt, .csv, .svg, .html" in shown
    assert "--force Overwrite the file." in shown
    shown = " ".join(CliRunner().invoke(named, ["--help"]).output.split())
    assert "--output, --write PATH Write it there." in shown
    assert typed(named, "--write", "a.txt") == Path("a.txt")


@pytest.mark.parametrize(
    ("file", "asked", "usual", "kind"),
    [
        (None, {}, "text", "text"),
        (None, {"--json": None}, "csv", "csv"),
        (None, {"--json": "json", "--csv": None}, "text", "json"),
        ("a.tex", {"--json": None}, "text", "latex"),
        ("a.Xlsx", {}, "text", "xlsx"),
        ("a.pdf", {"--format pdf": "pdf"}, "text", "pdf"),
        ("a.parquet", {}, "csv", "parquet"),
    ],
)
def test_the_kind_is_what_was_asked_for_else_that_of_the_file(
    file: str | None, asked: dict[str, str | None], usual: str, kind: str
) -> None:
    assert chosen_kind(Path(file) if file else None, asked, usual) == kind


@pytest.mark.parametrize(
    ("file", "asked", "what"),
    [
        (None, {"--a": "json", "--none": None, "--b": "csv"}, "--a and --b exclude each other"),
        ("b/a.txt", {"--json": "json"}, "--json and a file called 'a.txt' exclude each other"),
        (None, {"--format pdf": "pdf"}, "pdf is written to a file: --output NAME.pdf"),
    ],
)
def test_two_kinds_at_once_are_refused(file: str | None, asked: dict[str, str | None], what: str) -> None:
    with pytest.raises(click.UsageError) as error:
        chosen_kind(Path(file) if file else None, asked)
    assert error.value.message == what


def test_what_is_delivered_is_printed_or_written(tmp_path: Path, capsysbinary: Any) -> None:
    deliver("a\n", None, "never said")
    deliver(b"\x00b", None)
    assert capsysbinary.readouterr().out == b"a\n\x00b"
    for name, content, kept in (
        ("a.csv", "x", b"\xef\xbb\xbfx"),
        ("a.CSV", "x", b"\xef\xbb\xbfx"),
        ("b.csv", b"x", b"x"),
        ("a.txt", "é", "é".encode()),
    ):
        deliver(content, tmp_path / name)
        assert (tmp_path / name).read_bytes() == kept
        assert capsysbinary.readouterr().out == f"written: {tmp_path / name}\n".encode()
