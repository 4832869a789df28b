#!/usr/bin/env bash
# The tests: style of Python and of the page's script, types, and pytest with real containers. Arguments are passed on to pytest.
#
#   ./run_tests.sh                       everything: first those without containers, on all processors
#   ./run_tests.sh -m "not engine"       without containers (minutes)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

make_environment "$root/requirements/dev.lock"
cd "$root"
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/oxlint --deny-warnings harness
.venv/bin/mypy
if (($#)); then
    exec .venv/bin/python -m pytest "$@"
fi
# containers are given the whole machine, one test at a time: several measure what a run may use
.venv/bin/python -m pytest -m "not engine" --numprocesses auto --dist loadfile
exec .venv/bin/python -m pytest -m engine
