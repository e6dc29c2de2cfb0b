#!/usr/bin/env bash
# Compiles Helm, Kubernetes, etcd, CoreDNS, an S3 server (versitygw) and a server of streams (centrifugo) from the Go module
# proxy, in the versions that programs/**/go.sum pin.
#
#   programs.sh [PROGRAM...]    the named ones (helm, ...), or all that a cluster needs; compiled once per content of go.sum
#
# They come to $RESTANTE_TOOLS/bin; Go keeps its caches where it always does. Those of a cluster take 5 to 20 minutes the
# first time, with 4 GB of modules and 4 GB of compiled packages; Helm alone takes 2 minutes. GOFLAGS=-p=1 needs less memory.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

kubernetes=v1.36.3

declare -A packages=(
  [helm]=helm.sh/helm/v4/cmd/helm
  [etcd]=./etcd
  [coredns]=./coredns
)
# The folders of those that are not in the module of the others.
declare -A modules=([versitygw]=s3 [centrifugo]=streams)
packages[versitygw]=github.com/versity/versitygw/cmd/versitygw
for name in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl; do
  packages[$name]=k8s.io/kubernetes/cmd/$name
done
of_cluster=("${!packages[@]}")
# Only a bench needs it.
packages[centrifugo]=github.com/centrifugal/centrifugo/v6

# What a program is compiled from, as a hash.
stamp_of() { # program
  local module=$here/programs/${modules[$1]:-}
  cat "$module"/go.mod "$module"/go.sum "$here"/programs/{etcd,coredns}/main.go | sha256sum | cut -c1-12
}

compile() { # module, program...
  local module=$here/programs/$1 flags minor
  shift
  minor=$(cut -d. -f2 <<<"$kubernetes")
  flags="-s -w -X k8s.io/component-base/version.gitVersion=$kubernetes"
  flags+=" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=$minor"
  local targets=() name
  for name in "$@"; do targets+=("${packages[$name]}"); done
  (
    cd "$module"
    PATH=$(go_folder):$PATH CGO_ENABLED=0 GOFLAGS="-mod=readonly ${GOFLAGS:-}" GOTOOLCHAIN=local \
      nice go build -trimpath -ldflags "$flags" -o "$bin/" "${targets[@]}"
  )
  for name in "$@"; do
    rm -f "$bin/.$name-"*
    touch "$bin/.$name-$(stamp_of "$name")"
  done
}

main() {
  local wanted=("$@") name names module started=$SECONDS
  local -A missing=()
  [ ${#wanted[@]} -gt 0 ] || wanted=("${of_cluster[@]}")
  mkdir -p "$bin"
  for name in "${wanted[@]}"; do
    [ -n "${packages[$name]:-}" ] || fail "there is no program '$name'; there are: ${!packages[*]}"
    # One stamp a program, so that one that was compiled alone counts.
    [ ! -x "$bin/$name" ] || [ ! -e "$bin/.$name-$(stamp_of "$name")" ] || continue
    missing[${modules[$name]:-.}]+="$name "
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Compiling ${missing[*]}..."
  for module in "${!missing[@]}"; do
    read -ra names <<<"${missing[$module]}"
    compile "$module" "${names[@]}"
  done
  say "Compiled in $((SECONDS - started)) s: $(du -sh "$bin" | cut -f1) in $bin"
}

case ${1:-} in
  -h | --help) usage ;;
  *) main "$@" ;;
esac
