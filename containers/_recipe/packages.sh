#!/bin/sh
# Installs exactly the locked Debian packages. --force-depends: the lock leaves packages out on purpose, see left_out.
set -eu
. /mnt/recipe/common.sh

if ls /mnt/debs/*.deb > /dev/null 2>&1; then
    quietly dpkg $dpkg_options --force-depends --unpack /mnt/debs/*.deb
    quietly dpkg $dpkg_options --force-depends --configure --pending
    find /usr /etc /var -xdev -perm /6000 -exec chmod a-s {} +
    check_installed
    normalise
fi
