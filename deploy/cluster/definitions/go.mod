// Modules that bring definitions of resources which the chart can make. Nothing is compiled from them.
module restante.local/cluster/definitions

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.21.2
	github.com/prometheus-operator/prometheus-operator v0.85.0
	sigs.k8s.io/gateway-api v1.6.3
)
