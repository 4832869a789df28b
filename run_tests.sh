#!/usr/bin/env bash
# The tests: style of Python and of the page's script, types, and pytest with real containers. Arguments are passed on to pytest.
#
#   ./run_tests.sh                       everything: most of it side by side, then what needs the machine to itself
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
# one worker more than processors, as some always wait for containers; more than eight ask too much of one engine
workers=$(($(nproc) < 8 ? $(nproc) + 1 : 8))
.venv/bin/python -m pytest -m "not alone" --numprocesses "$workers" --dist loadfile --no-loadscope-reorder
exec .venv/bin/python -m pytest -m alone
