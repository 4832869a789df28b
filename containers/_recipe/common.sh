# Shared by the recipes: how dpkg is called, the check that what is installed equals the lock, and the removal of
# everything that would differ between two builds. Nothing of a layer below may be deleted here: the base leaves nothing.

# A recipe starts itself again with less: few capabilities and no new ones, limits on time, memory and the size of a file.
if [ -z "${CONFINED:-}" ]; then
    read -r seconds memory file < /mnt/limits.txt
    ulimit -c 0
    ulimit -v "$memory"
    ulimit -f "$file"
    CONFINED=1 exec perl /mnt/recipe/confine.pl timeout --verbose --kill-after=10 "$seconds" sh "$0"
fi

export DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true LC_ALL=C
umask 022

dpkg_options="--force-unsafe-io --force-confnew --path-exclude=/usr/share/man/* --path-exclude=/usr/share/info/*
 --path-exclude=/usr/share/locale/* --path-exclude=/usr/share/lintian/* --path-exclude=/usr/share/doc/*
 --path-exclude=/usr/lib/jvm/*/man/* --path-include=/usr/share/doc/*/copyright"

# Runs a command; shows what it said only if it fails.
quietly() {
    "$@" > /tmp/said 2>&1 || { status=$?; tail -n 40 /tmp/said >&2; echo "failed ($status): $*" >&2; exit "$status"; }
    rm -f /tmp/said
}

check_installed() {
    dpkg-query --show --showformat '${Package} ${Version} ${Architecture} ${db:Status-Status}\n' | sort > /tmp/installed
    if ! diff /mnt/installed.txt /tmp/installed > /tmp/difference; then
        echo "what is installed (>) is not what is locked (<):" >&2
        cat /tmp/difference >&2
        exit 1
    fi
    rm -f /tmp/installed /tmp/difference
}

normalise() {
    find /var/log -xdev -type f -delete
    rm -f /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old /var/cache/debconf/*-old /var/lib/dpkg/lock* \
        /var/lib/dpkg/triggers/Lock /etc/*- /root/.python_history
    rm -rf /root/.cache /var/cache/fontconfig/*
    # Newer than the epoch: made by this layer.
    find / -xdev -name '*.pyc' -newermt "@$SOURCE_DATE_EPOCH" -delete
    find / -xdev -name __pycache__ -empty -delete
    # The day a password was last changed is the day of the build.
    if [ -e /etc/shadow ]; then
        sed -i -E "s/^([^:]*:[^:]*:)[0-9]*:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
    fi
    if [ -e /usr/share/octave/octave_packages ]; then
        sed -i '1s/^# Created by.*/# Created by Octave/' /usr/share/octave/octave_packages
    fi
    normalise_times
}

normalise_times() {
    find / -xdev -newermt "@$SOURCE_DATE_EPOCH" \
        ! -path '/proc/*' ! -path '/sys/*' ! -path '/dev/*' ! -path '/mnt/*' ! -path /proc ! -path /sys ! -path /dev \
        -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} + 2> /dev/null || true
}
