#!/usr/bin/env bash
# Writes the settings of the programs of a node: containerd, its network, kubelet, kube-proxy and CoreDNS.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$here/node/addresses.sh"

mkdir -p "$state/cni" "$state/volume-plugins"
# A container without CAP_SYS_RESOURCE, such as a machine of a CI, may not lower OOM scores.
cat >"$state/containerd.toml" <<TOML
version = 2
root = "$state/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$state/cni"
TOML

cat >"$state/cni/10-pods.conflist" <<JSON
{ "cniVersion": "0.4.0", "name": "pods", "plugins": [
  { "type": "bridge", "bridge": "pods", "isDefaultGateway": true, "hairpinMode": true,
    "ipam": { "type": "host-local", "ranges": [[{ "subnet": "$pod_cidr" }]], "dataDir": "/run/cni" } },
  { "type": "portmap", "capabilities": { "portMappings": true } } ] }
JSON

printf 'nameserver %s\n' "$node_ip" >"$state/resolv.conf"

cat >"$state/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: $state/pki/ca.crt } }
authorization: { mode: Webhook }
cgroupDriver: cgroupfs
# Kubernetes 1.36 still runs on cgroups v1 when it is told to, and with Debian's containerd 1.6.
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
clusterDomain: cluster.local
clusterDNS: [$node_ip]
resolvConf: $state/resolv.conf
registerNode: true
podLogsDir: $state/pod-logs
volumePluginDir: $state/volume-plugins
shutdownGracePeriod: 0s
imageGCHighThresholdPercent: 100
evictionHard: { memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1% }
YAML

cat >"$state/proxy.yaml" <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: { kubeconfig: $state/proxy.kubeconfig }
mode: iptables
clusterCIDR: $pod_cidr
hostnameOverride: $node_name
conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s }
YAML

# outside.test is the domain of the mail servers of tests: SPF authenticates mail from their address. Every other name
# does not exist.
cat >"$state/Corefile" <<COREFILE
cluster.local:53 in-addr.arpa:53 {
  bind $node_ip
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $state/admin.kubeconfig local
  }
}
outside.test:53 {
  bind $node_ip
  errors
  template IN TXT outside.test {
    match ^outside\.test\.$
    answer "{{ .Name }} 60 IN TXT \"v=spf1 ip4:$internet_ip -all\""
    fallthrough
  }
  template IN MX outside.test {
    match ^outside\.test\.$
    answer "{{ .Name }} 60 IN MX 10 mx.outside.test."
    fallthrough
  }
  template IN A outside.test {
    match ^mx\.outside\.test\.$
    answer "{{ .Name }} 60 IN A $internet_ip"
    fallthrough
  }
  template ANY ANY outside.test {
    match ^(mx\.)?outside\.test\.$
    rcode NOERROR
    fallthrough
  }
  template ANY ANY {
    rcode NXDOMAIN
  }
}
.:53 {
  bind $node_ip
  ready 127.0.0.1:8181
  template ANY ANY {
    rcode NXDOMAIN
  }
}
COREFILE
