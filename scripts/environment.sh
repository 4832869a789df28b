# Makes .venv from a hash-locked list; sourced by run_all.sh and run_tests.sh, which share it.
# Sets nothing but $root, the functions make_environment and is_made_from, and, where it must, the locale.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# Where the tree lies stands in a file of .venv, which Python reads by the locale, and it ends where it can't.
if [[ $(locale charmap 2>/dev/null) != UTF-8 ]] && LC_ALL=C grep -q '[^ -~]' <<<"$root"; then export LC_ALL=C.UTF-8; fi

say() { printf '%s\n' "$*" >&2; }

# Python 3.11 or later with venv, installed by apt only as root, on Debian or Ubuntu, and never with --no-install.
find_python() {
    local candidate
    for candidate in python3.11 python3 python3.12 python3.13 python3.14; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

install_python() {
    if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null || [[ ${no_install:-} == 1 ]]; then
        say "error: Python 3.11 or later with its venv module is missing"
        say "  to do: as root on Debian or Ubuntu, apt-get install python3 python3-venv; then run this again"
        exit 3
    fi
    say "installing Python from this system's packages (forbid it with --no-install)"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3 python3-venv >&2
}

no_packages() {
    say "error: the packages of the environment could not be installed"
    say "  where: $1"
    say "  to do: see pip's message above; proxy, certificates and index are those of pip config list; a machine without a"
    say "  network takes the wheels from a folder (docs/air-gap.md); then run this again"
    exit 3
}

# What .venv is made from, and where: one that came along with a copied or moved tree runs the harness of its first.
stamp() {
    cat "$1" "$root/pyproject.toml"
    printf 'made in %s\n' "$root"
}

# is_made_from LOCK: .venv holds exactly what LOCK says, was made in this tree, and its Python runs this harness.
is_made_from() {
    local imported
    stamp "$1" | cmp -s - "$root/.venv/.made-from" 2>/dev/null && [[ -x $root/.venv/bin/harness ]] &&
        imported=$("$root/.venv/bin/python" -I -c 'import harness; print(*harness.__path__)' 2>/dev/null) &&
        [[ $imported == "$root/harness" ]]
}

# A Python that somebody started by its bare name, .venv being activated. A shell in which it is activated loses nothing.
is_activated_python() {
    [[ $(readlink "$1/exe" || true) == */python* ]] && grep -zqxF "VIRTUAL_ENV=$root/.venv" "$1/environ"
} 2>/dev/null

# Processes whose program lies in .venv: they would lose their modules with it. Where there is no /proc, none are known.
running_from_it() {
    local line folder program
    for line in /proc/[0-9]*/cmdline; do
        folder=${line%/cmdline}
        # one that has ended meanwhile has no line, or an empty one
        { IFS= read -r -d '' program <"$line"; } 2>/dev/null || continue
        [[ $program == /* ]] || program=$(readlink "$folder/cwd" || true)/$program
        if [[ $program == "$root/.venv/"* ]] || is_activated_python "$folder"; then
            printf ' %s' "${folder#/proc/}"
        fi
    done
}

still_used() {
    say "error: the environment in .venv has to be made anew, and processes still run from it:$1"
    say "  to do: wait for their end, or stop them (harness stop ends a campaign); then run this again"
    exit 3
}

# make_environment LOCK: .venv holds exactly what LOCK says, for this tree. Done in a moment when it already does.
make_environment() {
    local lock=$1 python turn users
    if is_made_from "$lock"; then
        return
    fi
    # two at once would make it over each other: the second waits, and finds it made
    exec {turn}>>"$root/pyproject.toml"
    if command -v flock >/dev/null && ! flock -n "$turn"; then
        say "another command makes the environment in .venv: waiting for it"
        flock "$turn"
        if is_made_from "$lock"; then
            exec {turn}>&-
            return
        fi
    fi
    if [[ -e $root/.venv ]]; then
        users=$(running_from_it)
        [[ -z $users ]] || still_used "$users"
        say "the environment in .venv is of another tree or of other packages, or its Python is gone: it is made anew"
    fi
    python=$(find_python) || { install_python; python=$(find_python); } || exit 3
    say "making the environment in .venv from $(basename "$lock") (about a minute)"
    # the note first: a removal that is broken off leaves nothing that looks whole
    rm -rf "$root/.venv/.made-from" "$root/.venv"
    "$python" -m venv "$root/.venv"
    "$root/.venv/bin/python" -m pip install -qq --disable-pip-version-check \
        --require-hashes --only-binary :all: -r "$lock" >&2 || no_packages "$lock"
    "$root/.venv/bin/python" -m pip install -qq --disable-pip-version-check \
        --no-deps --no-index --no-build-isolation --editable "$root" >&2 || no_packages "$root"
    stamp "$lock" > "$root/.venv/.made-from"
    # what is started next does not keep the turn
    exec {turn}>&-
}
