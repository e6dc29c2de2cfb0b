#!/usr/bin/env bash
# Collects the definitions of resources that the chart can make beside those of Kubernetes itself, in
# $RESTANTE_TOOLS/definitions: Gateway API, cert-manager and the Prometheus Operator bring theirs in their Go modules, in
# the versions that definitions/go.sum pins. Once for each content of what they come from.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

target=$tools/definitions
stamp=$target.$(cat "${BASH_SOURCE[0]}" "$here"/definitions/* | sha256sum | cut -c1-12)
[ ! -e "$stamp" ] || exit 0

# The folder of a module, which Go fetches once.
module() { # path
  (cd "$here/definitions" && PATH=$(go_folder):$PATH GOTOOLCHAIN=local go mod download -json "$1") |
    sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}

rm -rf "$target" "$target".*
mkdir -p "$target"
cp "$(module sigs.k8s.io/gateway-api)"/config/crd/standard/*_{gateways,httproutes,tcproutes,tlsroutes}.yaml "$target"
cp "$(module github.com/cert-manager/cert-manager)"/deploy/crds/cert-manager.io_{certificates,issuers,clusterissuers}.yaml "$target"
cp "$(module github.com/prometheus-operator/prometheus-operator)"/example/prometheus-operator-crd/*_{podmonitors,servicemonitors,prometheusrules}.yaml "$target"
cp "$here/definitions/strimzi.yaml" "$target"
# Files of the module cache are read-only.
chmod -R u+w "$target"
touch "$stamp"
