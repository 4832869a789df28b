#!/bin/sh
# Makes a wheel of each locked source distribution, in the image that COMPILER names; only /opt/wheels leaves it. What
# the day and the folder would add is kept out: no debug information, one folder, time stamps of SOURCE_DATE_EPOCH.
set -eu
. /mnt/recipe/common.sh
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp SOURCE_DATE_EPOCH

pip=$(ls /mnt/wheels/pip-*.whl)
mkdir /opt/wheels
while read -r file flags; do
    mkdir /tmp/source
    tar --extract --gzip --file "/mnt/sources/$file" --strip-components 1 --no-same-owner --directory /tmp/source
    export CFLAGS="$flags -g0 -ffile-prefix-map=/tmp/source=." CXXFLAGS="$flags -g0 -ffile-prefix-map=/tmp/source=."
    quietly /opt/venv/bin/python3 "$pip/pip" wheel --no-index --no-deps --no-build-isolation --no-cache-dir \
        --no-input --disable-pip-version-check --wheel-dir /opt/wheels /tmp/source
    rm -r /tmp/source
done < /mnt/sources.txt
