#!/bin/sh
# Makes /opt/conda from exactly the locked conda packages. Runs in the image that CONDA_INSTALLER names; only the prefix
# leaves it.
set -eu
. /mnt/recipe/common.sh
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp

quietly /opt/venv/bin/python3 /mnt/recipe/conda.py /mnt/conda.lock /mnt/conda /opt/conda
python=$(ls /opt/conda/bin/python3.* 2> /dev/null | grep -E '/python3\.[0-9]+$' || true)
normalise
if [ -n "$python" ]; then
    "$python" -m compileall -q --invalidation-mode unchecked-hash /opt/conda/lib > /dev/null || true
    normalise_times
fi
