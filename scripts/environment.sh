#!/bin/sh
# Make or bring up to date the project's environment: scripts/environment.sh runtime|dev
#
# The environment is built from a lock file with hashes, by pip alone, and qkva itself is linked into it. `dev` holds
# all of `runtime`, so that one folder serves both. A marker inside says what it holds, of which lock and where; a
# folder whose marker says "unfinished" was left by an interrupted run and is made anew.
#
# VENV    the folder (default .venv)
# PYTHON  the interpreter to make it with (default: the first of the usual names that fits)
set -eu
cd "$(dirname "$0")/.."

wanted=$1
venv=${VENV:-.venv}
marker="$venv/qkva-environment"
case $wanted in
runtime) lock=requirements.lock ;;
dev) lock=requirements-dev.lock ;;
*) echo "environment.sh: say runtime or dev, not '$wanted'." >&2; exit 2 ;;
esac

fits='import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))'

find_python() {
    for name in ${PYTHON:+"$PYTHON"} python3 python3.12 python3.13 python3.11 python; do
        if "$name" -c "$fits" >/dev/null 2>&1; then
            echo "$name"
            return
        fi
        if [ -n "${PYTHON:-}" ]; then
            break
        fi
    done
    name=${PYTHON:-python3}
    found=$("$name" -c 'import sys; print("is Python %d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || found="does not run"
    echo "qkva needs Python 3.11, 3.12 or 3.13 with its venv module, and $name $found." \
        "Install one (on Debian python3-venv too), or name it: make PYTHON=/path/to/python3.12 …" >&2
    exit 1
}

# What the folder should hold: which lock, which version of the files that decide it, and where it stands, because
# an environment that was moved does not run.
describe() {
    echo "$1 $(cat "$2" pyproject.toml scripts/environment.sh | cksum | tr ' ' '-') $(pwd)"
}

holds() {
    [ -x "$venv/bin/python" ] && [ "$(cat "$marker" 2>/dev/null)" = "$1" ] && "$venv/bin/python" -c "" 2>/dev/null
}

is_ready() {
    holds "$(describe dev requirements-dev.lock)" || { [ "$wanted" = runtime ] && holds "$(describe runtime requirements.lock)"; }
}

is_ready && exit 0

# One at a time: a second run waits for nothing and says so.
guard="$venv.lock"
if ! mkdir "$guard" 2>/dev/null; then
    other=$(cat "$guard/pid" 2>/dev/null || true)
    if [ -n "$other" ] && kill -0 "$other" 2>/dev/null; then
        echo "Another run (process $other) is making $venv at this moment: try again when it has finished." >&2
        exit 1
    fi
    [ -d "$guard" ] || { echo "$guard cannot be made here: this folder must be writable." >&2; exit 1; }
fi
echo $$ >"$guard/pid"
trap 'rm -rf "$guard"' EXIT
trap 'echo "Interrupted: $venv is unfinished, and the next run makes it anew." >&2; exit 130' INT TERM HUP

case "$(cat "$marker" 2>/dev/null)" in
"dev "*" $(pwd)" | "runtime "*" $(pwd)") ;;
*)
    if [ -d "$venv" ] && [ ! -f "$marker" ] && ! "$venv/bin/python" -c "$fits" >/dev/null 2>&1; then
        echo "$venv was not made by this Makefile, and its Python does not fit: remove it, or choose another folder with VENV=…" >&2
        exit 1
    fi
    [ ! -f "$marker" ] || rm -rf "$venv"
    ;;
esac

if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    mkdir -p "$venv"
    echo unfinished >"$marker"
    echo "Making $venv with $("$python" -V) …"
    "$python" -m venv "$venv"
fi
echo unfinished >"$marker"

echo "Installing $(grep -c '^[a-z0-9].*==' "$lock") locked packages into $venv …"
# A user's pip configuration keeps its say (mirrors, certificates), except where it would install outside of $venv.
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1
unset PIP_TARGET PIP_PREFIX PYTHONPATH PYTHONHOME || true
"$venv/bin/python" -m pip install -qq --require-hashes -r "$lock"
"$venv/bin/python" -m pip install -qq --no-deps --no-build-isolation --editable .
describe "$wanted" "$lock" >"$marker"
