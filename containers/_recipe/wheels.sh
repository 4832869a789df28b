#!/bin/sh
# Installs exactly the locked wheels into /opt/venv with pip run from its own wheel, then compiles what Python will import:
# byte code with unchecked hashes, because the usual kind carries time stamps. A conda prefix brings its own Python.
set -eu
. /mnt/recipe/common.sh
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
[ ! -e /opt/conda ] || exit 0
python=$(ls /usr/bin/python3.* | grep -E '/python3\.[0-9]+$' | sort -V | tail -n 1)

if [ ! -e /opt/venv ]; then
    "$python" -m venv --without-pip /opt/venv
    library=$("$python" -c 'import os; print(os.path.dirname(os.__file__))')
fi
if [ -s /mnt/requirements.txt ]; then
    pip=$(ls /mnt/wheels/pip-*.whl)
    /opt/venv/bin/python3 "$pip/pip" install --quiet --no-index --find-links /mnt/wheels \
        --require-hashes --no-deps --no-compile --no-cache-dir --no-input --disable-pip-version-check \
        --root-user-action ignore --requirement /mnt/requirements.txt
fi
normalise
# Some packages carry files in the syntax of another Python: those stay uncompiled.
"$python" -m compileall -q --invalidation-mode unchecked-hash ${library:-} /opt/venv/lib > /dev/null || true
normalise_times
