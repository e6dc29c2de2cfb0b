#!/usr/bin/env bash
# Makes the certificates of a cluster and a kubeconfig for each of its programs. They are new at each start, and gone with
# its state.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$here/node/addresses.sh"

pki=$state/pki

authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 7 -subj /CN=ca \
    -keyout "$pki/ca.key" -out "$pki/ca.crt" 2>/dev/null
}

certificate() { # name, subject, alternative names
  local extensions="keyUsage=digitalSignature,keyEncipherment
extendedKeyUsage=serverAuth,clientAuth${3:+
subjectAltName=$3}"
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$2" \
    -keyout "$pki/$1.key" -out "$pki/$1.csr" 2>/dev/null
  openssl x509 -req -in "$pki/$1.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 7 \
    -extfile <(printf '%s\n' "$extensions") -out "$pki/$1.crt" 2>/dev/null
}

kubeconfig() { # name
  cat >"$state/$1.kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{ name: local, cluster: { server: "https://$node_ip:6443", certificate-authority: $pki/ca.crt } }]
users: [{ name: $1, user: { client-certificate: $pki/$1.crt, client-key: $pki/$1.key } }]
contexts: [{ name: local, context: { cluster: local, user: $1 } }]
current-context: local
YAML
}

mkdir -p "$pki"
authority
certificate apiserver /CN=kube-apiserver \
  "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:$node_ip,IP:$api_service_ip"
certificate admin /O=system:masters/CN=admin
certificate controller-manager /CN=system:kube-controller-manager
certificate scheduler /CN=system:kube-scheduler
certificate kubelet "/O=system:nodes/CN=system:node:$node_name"
certificate proxy /CN=system:kube-proxy
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$pki/accounts.key" 2>/dev/null
openssl pkey -in "$pki/accounts.key" -pubout -out "$pki/accounts.pub"
for name in admin controller-manager scheduler kubelet proxy; do kubeconfig "$name"; done
