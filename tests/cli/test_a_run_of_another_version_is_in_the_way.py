"""A run of a benchmark that this version does not have: a branch, or a benchmark of one's own that was removed."""

from __future__ import annotations

import pytest

from harness.base.files import write_json
from harness.base.layout import Layout
from harness.cli import main
from harness.results.records import RECORD_FILE
from harness.results.store import Store


@pytest.fixture
def strange(here: Layout, keys: list[str]) -> str:
    """The key of such a run, beside four others."""
    store = Store(here.runs)
    record = store.record(keys[0])
    job = record.planned.job.model_copy(update={"benchmark": "gone", "accelerator": "cuda"})
    key = f"ab{'0' * 62}"
    planned = record.planned.model_copy(update={"job": job})
    store.path(key).mkdir(parents=True)
    content = record.model_copy(update={"key": key, "planned": planned, "files": {}}).to_json()
    write_json(store.path(key) / RECORD_FILE, content)
    return key


def _ended(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    return int(ended.value.code or 0)


@pytest.mark.usefixtures("strange")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("status", "--suite", "stored"), 1),
        (("report", "--suite", "stored"), 0),
        (("compare", "--gpu"), 0),
        (("score",), 4),
        (("forget", "--method", "constant", "--dry-run"), 0),
    ],
)
def test_commands_about_others_go_on(
    arguments: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _ended(*arguments) == code
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    # what is about all runs tells why it could not take this one
    assert ("gone" in shown.out + shown.err) == (arguments == ("score",))


def test_it_is_shown_as_what_it_is(strange: str, here: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert _ended("show", strange[:12]) == 4
    assert capsys.readouterr().err.splitlines() == [
        "error: a record that this version of the harness can't read: no benchmark is called 'gone'",
        f"  where: {Store(here.runs).path(strange) / RECORD_FILE}",
        f"  to do: use the version that made it, or remove it: `harness forget {strange[:12]}`",
    ]


def test_an_audit_tells_of_it_and_of_all_others(strange: str, capsys: pytest.CaptureFixture[str]) -> None:
    _ended("audit", "--all")
    shown = capsys.readouterr().out
    assert strange[:12] in shown
    assert "no benchmark is called 'gone'" in shown


def test_it_can_be_removed(strange: str, here: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert _ended("forget", strange[:12], "--yes") == 0
    assert "removed: 1" in capsys.readouterr().out
    assert strange not in set(Store(here.runs).finished())
