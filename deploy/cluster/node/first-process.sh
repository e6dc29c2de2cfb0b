#!/usr/bin/env bash
# Process 1 of the cluster's namespaces: prepares them and starts the programs. Its end is the end of everything in them.
#
#   first-process.sh node|api     api: only what serves and fills the API
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$here/node/addresses.sh"

mode=$1

start() { # name, command...
  local name=$1
  shift
  "$@" >"$state/logs/$name.log" 2>&1 &
}

# Everything that programs write outside of the state is on file systems that end with this process.
file_systems() {
  # Mounts of pods spread in here and no further.
  mount --make-rshared /
  mount -t tmpfs -o mode=755 tmpfs /run
  mkdir -p /run/netns /run/lock
  mount -t tmpfs -o mode=755 tmpfs /var/log
  local folder setting file
  for folder in kubelet cni; do
    mkdir -p "$state/lib/$folder"
    mount --bind "$state/lib/$folder" "/var/lib/$folder"
  done
  # A kubelet sets these for the whole machine where they differ; it finds files with the values that it wants instead.
  mkdir -p "$state/sys"
  for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    file=$state/sys/$(basename "${setting%=*}")
    echo "${setting#*=}" >"$file"
    mount --bind "$file" "/proc/sys/${setting%=*}"
  done
}

# The node and, at the other end of a wire, what is outside of Kubernetes.
networks() {
  ip link set lo up
  ip netns add outside
  ip link add node0 type veth peer name outside0 netns outside
  ip addr add "$node_ip/24" dev node0
  ip link set node0 up
  ip route add default via "$outside_ip"
  sysctl -qw net.ipv4.ip_forward=1
  ip -n outside link set lo up
  ip -n outside addr add "$internet_ip/32" dev lo
  ip -n outside addr add "$outside_ip/24" dev outside0
  ip -n outside link set outside0 up
  local network
  for network in "$pod_cidr" "$service_cidr" "$balancer_prefix.0/24"; do
    ip -n outside route add "$network" via "$node_ip" src "$internet_ip"
  done
}

control_plane() {
  start etcd "$bin/etcd" --name local --data-dir "$state/etcd" --unsafe-no-fsync --log-level warn
  start kube-apiserver "$bin/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 \
    --advertise-address="$node_ip" --secure-port=6443 --service-cluster-ip-range="$service_cidr" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true \
    --client-ca-file="$state/pki/ca.crt" \
    --tls-cert-file="$state/pki/apiserver.crt" --tls-private-key-file="$state/pki/apiserver.key" \
    --kubelet-client-certificate="$state/pki/admin.crt" --kubelet-client-key="$state/pki/admin.key" \
    --kubelet-preferred-address-types=InternalIP \
    --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$state/pki/accounts.pub" \
    --service-account-signing-key-file="$state/pki/accounts.key"
  wait_for 150 kube-apiserver kubectl get --raw /readyz
  start kube-controller-manager "$bin/kube-controller-manager" --kubeconfig="$state/controller-manager.kubeconfig" \
    --leader-elect=false --use-service-account-credentials --root-ca-file="$state/pki/ca.crt" \
    --service-account-private-key-file="$state/pki/accounts.key" --bind-address=127.0.0.1 \
    --cluster-signing-cert-file="$state/pki/ca.crt" --cluster-signing-key-file="$state/pki/ca.key"
  start kube-scheduler "$bin/kube-scheduler" --kubeconfig="$state/scheduler.kubeconfig" --leader-elect=false \
    --bind-address=127.0.0.1
}

node() {
  start containerd containerd --config "$state/containerd.toml"
  wait_for 60 containerd ctr version
  ctr --namespace k8s.io images import "$state/pause.tar" >"$state/logs/pause.log" 2>&1
  kubectl create clusterrolebinding node-proxy --clusterrole=system:node-proxier --user=system:kube-proxy
  start kubelet "$bin/kubelet" --config="$state/kubelet.yaml" --kubeconfig="$state/kubelet.kubeconfig" \
    --hostname-override="$node_name" --node-ip="$node_ip"
  start kube-proxy "$bin/kube-proxy" --config="$state/proxy.yaml"
  start coredns "$bin/coredns" -conf "$state/Corefile"
  start load-balancer balance
}

# Gives each Service of type LoadBalancer an address, as the controller of a cloud does. kube-proxy does the rest.
balance() {
  local namespace name type address next=1
  while :; do
    kubectl get services --all-namespaces --watch --output \
      'jsonpath={.metadata.namespace} {.metadata.name} {.spec.type} {.status.loadBalancer.ingress[0].ip}{"\n"}' |
      while read -r namespace name type address; do
        [ "$type" = LoadBalancer ] && [ -z "$address" ] || continue
        kubectl patch service "$name" --namespace "$namespace" --subresource=status --patch \
          "{\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"$balancer_prefix.$next\"}]}}}" || continue
        next=$((next + 1))
      done
    sleep 1
  done
}

export KUBECONFIG=$state/admin.kubeconfig PATH=$bin:$PATH
file_systems
networks
control_plane
[ "$mode" != node ] || node
touch "$state/started"
# Process 1 also reaps what containers leave.
while :; do wait -n || true; sleep 1; done
