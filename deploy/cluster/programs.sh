#!/usr/bin/env bash
# Compiles Helm, Kubernetes, etcd, CoreDNS and an S3 server (versitygw) from the Go module proxy, in the versions that
# programs/**/go.sum pin.
#
#   programs.sh [PROGRAM...]    the named ones (helm, kubectl, ...), or all; compiled once per content of go.sum
#
# They come to $RESTANTE_TOOLS/bin; Go keeps its caches where it always does. All of them take 5 to 20 minutes the first
# time, with 4 GB of modules and 4 GB of compiled packages; Helm alone takes 2 minutes. GOFLAGS=-p=1 needs less memory.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

kubernetes=v1.36.3

declare -A packages=(
  [helm]=helm.sh/helm/v4/cmd/helm
  [etcd]=./etcd
  [coredns]=./coredns
)
declare -A modules=([versitygw]=s3)
packages[versitygw]=github.com/versity/versitygw/cmd/versitygw
for name in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl; do
  packages[$name]=k8s.io/kubernetes/cmd/$name
done

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
  local wanted=("$@") name missing=() missing_s3=() started=$SECONDS
  [ ${#wanted[@]} -gt 0 ] || wanted=("${!packages[@]}")
  mkdir -p "$bin"
  for name in "${wanted[@]}"; do
    [ -n "${packages[$name]:-}" ] || fail "there is no program '$name'; there are: ${!packages[*]}"
    # One stamp a program, so that one that was compiled alone counts.
    [ ! -x "$bin/$name" ] || [ ! -e "$bin/.$name-$(stamp_of "$name")" ] || continue
    if [ "${modules[$name]:-}" = s3 ]; then missing_s3+=("$name"); else missing+=("$name"); fi
  done
  [ $((${#missing[@]} + ${#missing_s3[@]})) -gt 0 ] || return 0
  say "Compiling ${missing[*]} ${missing_s3[*]} ..."
  [ ${#missing[@]} -eq 0 ] || compile . "${missing[@]}"
  [ ${#missing_s3[@]} -eq 0 ] || compile s3 "${missing_s3[@]}"
  say "Compiled in $((SECONDS - started)) s: $(du -sh "$bin" | cut -f1) in $bin"
}

case ${1:-} in
  -h | --help) usage ;;
  *) main "$@" ;;
esac
