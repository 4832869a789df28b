#!/usr/bin/env bash
# The tests: style of Python and of the page's script, types, and pytest with real containers. Arguments are passed on to pytest.
#
#   ./run_tests.sh                       what every change must pass: most of it side by side, then what needs the machine to itself
#   ./run_tests.sh --thorough            what is left: every method in its container, both engines, 160 kills
#   ./run_tests.sh -m "not engine"       without containers (minutes)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

make_environment "$root/requirements/dev.lock"
cd "$root"
# without it every process, and every worker, compiles the harness and the tests again
unset PYTHONDONTWRITEBYTECODE
kind="not thorough"
if [[ ${1:-} == --thorough ]]; then
    kind=thorough
    shift
else
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    .venv/bin/oxlint --deny-warnings harness
    .venv/bin/mypy
    if (($#)); then
        exec .venv/bin/python -m pytest "$@"
    fi
fi
# one worker more than processors, as some always wait for containers; more than eight ask too much of one engine
workers=$(($(nproc) < 8 ? $(nproc) + 1 : 8))
# What fails beside others may have met an engine, or a machine, that had too much to do: up to three such tests are asked
# again, alone, and told. A defect fails both times; more than three at once are no accident.
side_by_side() {
    local failed=0 failures=.pytest_cache/v/cache/lastfailed names=""
    rm -f "$failures"
    .venv/bin/python -m pytest -m "$kind and not alone" --numprocesses "$workers" --dist loadfile --no-loadscope-reorder "$@" || failed=$?
    # 1: all were run, and some failed
    if ((failed == 1)) && [[ -f $failures ]]; then names=$(grep true "$failures"); fi
    if [[ -z $names ]] || (($(wc -l <<<"$names") > 3)); then return "$failed"; fi
    # however late it is: a test that is left out has not passed
    .venv/bin/python -m pytest --last-failed --last-failed-no-failures none -m "$kind and not alone" "$@" --until inf || return
    printf 'failed beside other tests, passed when asked again alone:\n%s\n' "$names" >&2
}
alone() { .venv/bin/python -m pytest -m "$kind and alone" "$@"; }
if [[ $kind == thorough ]]; then
    # the few first: where time ends, they would never be reached. Of the tests that are named one part may have none (5)
    alone=0 beside=0
    alone "$@" || alone=$?
    ((alone == 0 || alone == 5)) || exit "$alone"
    side_by_side "$@" || beside=$?
    ((beside == 5 && alone == 0)) || exit "$beside"
else
    side_by_side
    alone
fi
