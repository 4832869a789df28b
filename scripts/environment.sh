# Makes .venv from a hash-locked list; sourced by run_all.sh and run_tests.sh, which share it.
# Sets nothing but $root and the function make_environment.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

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
    say "  to do: see pip's message above; proxy, certificates and index are those of pip config list; then run this again"
    exit 3
}

# make_environment LOCK: .venv holds exactly what LOCK says. Done in a moment when it already does.
make_environment() {
    local lock=$1 stamp=$root/.venv/.made-from python
    if [[ -x $root/.venv/bin/harness ]] && cat "$lock" "$root/pyproject.toml" | cmp -s - "$stamp"; then
        return
    fi
    python=$(find_python) || { install_python; python=$(find_python); } || exit 3
    say "making the environment in .venv from $(basename "$lock") (about a minute)"
    rm -rf "$root/.venv"
    "$python" -m venv "$root/.venv"
    "$root/.venv/bin/python" -m pip install -qq --disable-pip-version-check \
        --require-hashes --only-binary :all: -r "$lock" >&2 || no_packages "$lock"
    "$root/.venv/bin/python" -m pip install -qq --disable-pip-version-check \
        --no-deps --no-index --no-build-isolation --editable "$root" >&2
    cat "$lock" "$root/pyproject.toml" > "$stamp"
}
