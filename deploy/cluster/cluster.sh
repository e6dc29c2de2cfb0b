#!/usr/bin/env bash
# A real Kubernetes of one node, alone in namespaces of its own: etcd, kube-apiserver, kube-controller-manager,
# kube-scheduler, CoreDNS, and a node with kubelet, kube-proxy, containerd and runc. README.md says where it ends.
#
#   cluster.sh up [--api-only]       starts it; --api-only: no node, pods stay Pending
#   cluster.sh load IMAGE...         copies images of images.sh to the node
#   cluster.sh exec COMMAND...       runs a command outside of the node, in a network from which only what Kubernetes
#                                    serves is in reach, with KUBECONFIG set and the programs on PATH
#   cluster.sh node COMMAND...       runs a command on the node
#   cluster.sh logs PROGRAM          prints the log of one of its programs
#   cluster.sh down                  ends it and leaves nothing
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$here/node/addresses.sh"

# The process 1 of the cluster's namespaces, as this machine numbers it.
first_process() {
  [ -e "$state/pid" ] || return 1
  local keeper
  keeper=$(cat "$state/pid")
  # After a restart of the machine the number can be that of another process.
  grep -qsF "$here/node/first-process.sh" "/proc/$keeper/cmdline" || return 1
  awk '$1 { print $1; found = 1 } END { exit !found }' "/proc/$keeper/task/$keeper/children"
}

running() { first_process || fail 'no cluster runs; cluster.sh up starts one'; }

outside() { # command...
  local first
  first=$(running)
  KUBECONFIG="$state/admin.kubeconfig" PATH="$bin:$PATH" \
    nsenter --net="/proc/$first/root/run/netns/outside" -- "$@"
}

on_node() { # command...
  local first
  first=$(running)
  nsenter --target "$first" --mount --net --pid --ipc --uts -- "$@"
}

up() {
  local mode=node started=$SECONDS
  [ "${1:-}" != --api-only ] || mode=api
  [ "$(id -u)" = 0 ] || fail 'only root can make a node'
  require openssl=openssl ip=iproute2 unshare=util-linux sysctl=procps
  [ $mode = api ] || require containerd=containerd runc=runc iptables=iptables conntrack=conntrack gcc=gcc podman=podman
  [ $mode = api ] || [ -x /usr/lib/cni/bridge ] || fail 'missing programs; as root: apt-get install -y --no-install-recommends containernetworking-plugins'
  ! first_process >/dev/null || fail 'a cluster runs already; cluster.sh down ends it'
  # Two kubelets on one machine take each other's pods for leftovers.
  [ $mode = api ] || ! find /sys/fs/cgroup -path '*/kubepods*' -name cgroup.procs -exec cat {} + 2>/dev/null | grep -q . ||
    fail 'another node of Kubernetes runs on this machine'
  rm -rf "$state"
  mkdir -p "$state/logs" /var/lib/kubelet /var/lib/cni
  chmod 700 "$state"
  [ $mode = api ] || "$here/node/pause.sh" "$state/pause.tar"
  "$here/node/certificates.sh"
  [ $mode = api ] || "$here/node/settings.sh"
  setsid unshare --mount --net --pid --ipc --uts --fork --mount-proc --propagation private --kill-child \
    "$here/node/first-process.sh" "$mode" >"$state/logs/first-process.log" 2>&1 </dev/null &
  local keeper=$!
  disown
  echo $keeper >"$state/pid"
  wait_for 180 'the control plane' test -e "$state/started" || { tail -n 5 "$state"/logs/*.log >&2; down; exit 1; }
  wait_for 120 'the account of pods' outside kubectl get serviceaccount default || exit 1
  if [ $mode = node ]; then
    wait_for 180 'the node' node_is_ready || { tail -n 5 "$state/logs/kubelet.log" >&2; exit 1; }
  fi
  say "The cluster is up after $((SECONDS - started)) s"
}

node_is_ready() {
  outside kubectl get node "$node_name" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' | grep -q True
}

load() { # image...
  local file=$state/images.tar started=$SECONDS
  running >/dev/null
  # One archive, because images share most of their layers.
  rm -f "$file"
  "$here/images.sh" podman save --quiet --multi-image-archive --output "$file" "$@"
  on_node ctr --namespace k8s.io images import "$file" >"$state/logs/load.log" || fail "the images could not be loaded: $(tail -n 3 "$state/logs/load.log")"
  rm -f "$file"
  say "Images loaded in $((SECONDS - started)) s"
}

down() {
  local keeper first folder
  if first=$(first_process); then
    keeper=$(cat "$state/pid")
    # The end of process 1 is the end of everything in its namespaces: programs, pods, mounts, networks.
    kill -KILL "$first" 2>/dev/null || true
    wait_for 60 'the end of the cluster' test ! -e "/proc/$keeper" || true
  fi
  for folder in /sys/fs/cgroup/*/kubepods /sys/fs/cgroup/kubepods; do
    [ ! -d "$folder" ] || find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
  rm -rf "$state"
  rmdir /var/lib/kubelet /var/lib/cni 2>/dev/null || true
}

case ${1:-} in
  up | load | down) "$@" ;;
  exec) shift; outside "$@" ;;
  node) shift; on_node "$@" ;;
  logs) cat "$state/logs/$2.log" ;;
  *) usage ;;
esac
