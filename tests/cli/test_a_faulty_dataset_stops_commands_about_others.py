"""A manifest of one's own that breaks its schema concerns that dataset alone; all else goes on, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.layout import DATA_VARIABLE
from harness.cli import main


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset of one's own whose manifest lacks nearly everything."""
    manifest = tmp_path / "own" / "bad" / "dataset.toml"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('name = "bad"\ntitel = "x"\n')
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "own"))
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path / "results"))
    return manifest


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("compare", "--benchmark", "repurposing", "--method", "als_wr", "--dataset", "fdataset"), 0),
        (("split", "list"), 0),
        # here that dataset was asked for, too
        (("data", "croissant", "--all", "--output", "CROISSANT"), 2),
        (("data", "croissant", "hdvd", "fdataset", "--output", "CROISSANT"), 0),
    ],
)
def test_what_is_about_other_data_goes_on(
    command: tuple[str, ...],
    code: int,
    faulty: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / part) if part == "CROISSANT" else part for part in command])
    shown = capsys.readouterr()
    assert ended.value.code == code and "error" not in shown.err
    if "--all" not in command and "data" in command:
        assert not caplog.messages
        return
    (warning,) = caplog.messages
    assert warning.startswith("warning: dataset 'bad' is left out: dataset.toml breaks its schema\n  where: ")
    assert f"{faulty}: titel: there is no such field; did you mean 'title'?" in warning
    # the others are all there
    assert "fdataset" in shown.out


def test_what_is_about_that_dataset_is_refused(faulty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["data", "get", "bad"])
    assert ended.value.code == 2 and f"{faulty}: benchmark: is missing" in capsys.readouterr().err


def test_two_datasets_of_one_name_hide_no_other(faulty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = faulty.parent.with_name("synthetic") / faulty.name
    manifest.parent.mkdir()
    manifest.touch()
    for command in (["list", "datasets"], ["data", "list"]):
        with pytest.raises(SystemExit) as ended:
            main(command)
        shown = capsys.readouterr().out
        assert ended.value.code == 2 and "two datasets are called 'synthetic'" in shown and "fdataset" in shown
