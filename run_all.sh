#!/usr/bin/env bash
# One command: environment, engine, images, data, runs, scores, report. Resumable: run it again at any time.
#
#   ./run_all.sh                                     the embedded smoke suite of every benchmark
#   ./run_all.sh --suite full --mirror DIR           the whole reproduction, but for the search of hyper-parameters
#   ./run_all.sh --method bnnr --dataset hdvd --seed 1 --mirror DIR
#   ./run_all.sh --no-install                        install nothing on this system
#
# Every option is passed on to `harness run`; ./run_all.sh --help lists them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

options=(--install --report)
suite=(--suite smoke)
for argument in "$@"; do
    case $argument in
        --suite | --suite=* | --method | --method=*) suite=() ;;
        --no-install) no_install=1 ;;
    esac
done
lock=$root/requirements/run.lock
# A tree that was tested has the larger environment, which serves as well.
if is_made_from "$root/requirements/dev.lock"; then
    lock=$root/requirements/dev.lock
fi
make_environment "$lock"
# in the folder of whoever called: paths among the options are theirs
exec "$root/.venv/bin/harness" run ${suite[@]+"${suite[@]}"} "${options[@]}" "$@"
