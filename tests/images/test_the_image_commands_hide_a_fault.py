from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base.errors import UsageError
from harness.cli import group
from harness.images.verify import ImageFinding
from tests.images.making import Workbench


def _run(*arguments: str) -> tuple[int, str]:
    outcome = CliRunner().invoke(group, ["image", *arguments], standalone_mode=False)
    if outcome.exception is not None:
        raise outcome.exception
    return int(outcome.return_value or 0), outcome.output


def test_the_list_has_every_method_with_its_tree_and_size() -> None:
    _, text = _run("list", "--json")
    rows = {row["name"]: row for row in json.loads(text)["rows"]}
    assert {"_base", "als_wr", "bnnr", "lrssl", "constant"} <= set(rows)
    for name in ("als_wr", "bnnr", "lrssl", "constant"):
        assert rows[name]["kind"] == "method"
        assert len(rows[name]["tree"]) == 64
        assert rows[name]["image"].startswith(f"localhost/permafrost/{name}:")


def test_images_are_as_small_as_promised() -> None:
    _, text = _run("list", "--json")
    sizes = {row["name"]: row["bytes"] / 1e6 for row in json.loads(text)["rows"]}
    assert sizes["_base"] <= 130
    assert sizes["bnnr"] <= 320
    assert sizes["lrssl"] <= 270


def test_the_list_is_a_table_for_people() -> None:
    _, text = _run("list")
    assert text.splitlines()[0].split()[:2] == ["name", "kind"]
    rows = {words[0]: words[1:3] for words in map(str.split, text.splitlines()) if words}
    assert rows["_torch"] == ["environment", "cpu"] and rows["bnnr"] == ["method", "cpu"]


@pytest.mark.parametrize("as_json", [False, True])
def test_a_fault_gives_exit_code_3_and_is_shown(monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    findings = [ImageFinding("toy", "installed", "equals the locks", "spy 1 is installed but not locked")]
    monkeypatch.setattr("harness.cli.image.verify_images", lambda *_, **__: iter(findings))
    monkeypatch.setattr("harness.cli.image.find_engine", lambda *_, **__: _Nothing())
    code, text = _run("verify", "constant", *(["--json"] if as_json else []))
    assert code == 3
    assert "spy 1 is installed but not locked" in text


def test_an_unknown_name_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no environment is called 'nothing'"):
        _run("fetch", "nothing")


def test_all_parts_can_be_kept_for_later(bench: Workbench, tmp_path: Path) -> None:
    bench.fetch("_base")
    _, text = _run("export", str(tmp_path / "kept"), "_base")
    kept = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert f": {len(kept)}, of them new: " in text
    assert len(kept) > 50


class _Nothing:
    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        return None
