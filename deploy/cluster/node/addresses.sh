# The addresses of the cluster. They exist only inside its network namespaces, from which no route leads out.
node_name=node-1
node_ip=10.240.0.10
pod_cidr=10.244.0.0/24
service_cidr=10.96.0.0/16
api_service_ip=10.96.0.1
# A neighbour of the node, outside of Kubernetes: `cluster.sh exec` runs there.
outside_ip=10.240.0.1
# What pods take for a host on the Internet. An ordinary public address, because services refuse to send webhooks to any
# other; nothing that is sent to it leaves the namespace.
internet_ip=11.0.0.10
# The addresses of Services of type LoadBalancer: 11.0.1.1 and further.
balancer_prefix=11.0.1
