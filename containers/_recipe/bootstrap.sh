#!/bin/sh
# Turns the first root file system (harness/images/stage0.py) into a proper one: dpkg unpacks and configures every locked
# package over it. The order of the first few is the one they need; dpkg finds the rest.
set -eu
. /mnt/recipe/common.sh

: > /etc/shells
ln -sf mawk /usr/bin/awk
for package in base-passwd base-files dpkg libc6 perl-base mawk debconf; do
    quietly dpkg $dpkg_options --force-depends --install /mnt/debs/${package}_*.deb
done
quietly dpkg $dpkg_options --force-depends --unpack /mnt/debs/*.deb
quietly dpkg $dpkg_options --configure --pending

# Nothing in a container needs to become another user.
find / -xdev -perm /6000 -exec chmod a-s {} +
check_installed
normalise
