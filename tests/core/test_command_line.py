"""The command line answers at once, says what is wrong, and its exit codes mean what the README says."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import harness.cli
from harness.base import errors
from harness.cli import group, main
from tests.conftest import REPOSITORY

_HEAVY = ("numpy", "pandas", "docker", "pyarrow", "scipy", "sklearn", "rich", "jinja2", "pydantic")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from harness.cli import group;"
        "assert CliRunner().invoke(group, ['--help']).exit_code == 0;"
        f"print([name for name in {_HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", list(harness.cli._COMMANDS))
def test_every_listed_command_exists_and_has_help(name: str) -> None:
    done = CliRunner().invoke(group, [name, "--help"])
    assert done.exit_code == 0, done.output
    assert "Usage" in done.output


def test_every_command_module_is_listed() -> None:
    modules = {path.stem for path in (REPOSITORY / "harness" / "cli").glob("*.py")}
    others = {"__init__", "completion", "names", "once", "options", "output", "warnings", "watch"}
    assert modules - others == set(harness.cli._COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["stauts"], 2, "Did you mean 'status'"),
        (["run", "--method", "als_wr"], 2, "--dataset is missing"),
        (["run", "--method", "als"], 2, "did you mean 'als_wr'"),
        (["run", "--suite", "smok"], 2, "did you mean 'smoke'"),
        (["run", "--method", "alswr", "--dataset", "synthetic", "--seed", "1"], 2, "did you mean 'als_wr'"),
        (["run", "--method", "als_wr", "--dataset", "sinthetic", "--seed", "1"], 2, "did you mean 'synthetic'"),
        (
            ["run", "--method", "als_wr", "--dataset", "synthetic", "--seed", "1", "--set", "alfa=1"],
            2,
            "did you mean 'alpha'",
        ),
        (
            ["run", "--method", "als_wr", "--dataset", "synthetic", "--seed", "1", "--set", "alpha"],
            2,
            "name=value",
        ),
        (["run", "--method", "als_wr", "--dataset", "synthetic", "--seed", "1", "--split", "rand"], 2, "'random'"),
        (["run", "--suite", "smoke", "--seed", "1"], 2, "names its own jobs"),
        (
            ["run", "--method", "als_wr", "--dataset", "synthetic", "--seed", "17263407", "--seed", "17263407"],
            2,
            "planned twice",
        ),
        (["run", "--suite", "smoke", "--mirror", "/nowhere/at/all"], 2, "does not exist"),
        (["list", "suites", "--markdown"], 2, "have no cards"),
        (["run", "--suite", "smoke", "--variant", "corrected"], 2, "--variant"),
        (["run", "--suite", "smoke", "--inner-folds", "3"], 2, "--inner-folds"),
        (["run", "--method", "als_wr", "--dataset", "synthetic", "--seed", "-1"], 2, "'--seed'"),
        (["run", "--method", "als_wr", "--dataset", "synthetic", "--seed", str(2**32)], 2, "'--seed'"),
        (
            ["run", "--method", "als_wr", "--dataset", "synthetic", "--seed", "1", "--workers", "0"],
            2,
            "'--workers'",
        ),
        (["split", "make", "synthetic", "random", "--seed", "-1"], 2, "'--seed'"),
        (["predict", "--method", "als_wr", "--dataset", "synthetic", "--seed", "-1"], 2, "'--seed'"),
        (["status", "--method", "bnrr"], 2, "did you mean 'bnnr'"),
        (["status", "--dataset", "hdvd"], 2, "the plan 'smoke'"),
        (["status", "--json", "--markdown"], 2, "exclude each other"),
        (["compare", "--json", "--markdown"], 2, "exclude each other"),
        (["compare", "--dataset", "fdatset"], 2, "did you mean 'fdataset'"),
        (["compare", "--method", "nobody"], 2, "'nobody'"),
    ],
)
def test_a_wrong_request_says_what_and_exits_2(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    told = "".join(capsys.readouterr())
    assert ended.value.code == code, told
    assert said in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("x"), 2),
        (errors.ManifestError("x"), 2),
        (errors.EngineError("x"), 3),
        (errors.ImageError("x"), 3),
        (errors.MissingData("x"), 4),
        (errors.CorruptData("x"), 4),
        (errors.AuditError("x"), 5),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_kind_of_failure_has_its_exit_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    def failing() -> None:
        raise error

    monkeypatch.setattr(harness.cli.group, "get_command", lambda context, name: failing)
    with pytest.raises(SystemExit) as ended:
        main(["status"])
    assert ended.value.code == code
    assert capsys.readouterr().err


def test_a_message_has_three_parts() -> None:
    told = str(errors.DataError("it broke", where="file.csv, line 3", todo="mend it"))
    assert told.splitlines() == ["it broke", "  where: file.csv, line 3", "  to do: mend it"]
