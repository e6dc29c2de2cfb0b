{{/* Names and labels. */}}

{{- define "restante.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* What selects the pods of one component: (dict "root" $ "name" component). */}}
{{- define "restante.selector" -}}
app.kubernetes.io/name: restante
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{/* Labels of every object: (dict "root" $ "name" component). */}}
{{- define "restante.labels" -}}
{{ include "restante.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: restante
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/*
Metadata of an object of one component: (dict "root" $ "name" component), with "object" if it is named otherwise, and with
further "labels" and "annotations".
*/}}
{{- define "restante.metadata" -}}
name: {{ include "restante.fullname" .root }}-{{ default .name .object }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "restante.labels" . | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The image of a service: (dict "root" $ "service" service). */}}
{{- define "restante.image" -}}
{{- $image := .root.Values.image -}}
{{- $name := printf "%s/%s" $image.repository .service -}}
{{- with $image.registry }}{{ $name = printf "%s/%s" . $name }}{{ end -}}
{{- with index (default dict $image.digests) .service -}}
{{ $name }}@{{ . }}
{{- else -}}
{{ $name }}:{{ default $.root.Chart.AppVersion $image.tag }}
{{- end }}
{{- end }}

{{/* The Secret of a service: (dict "root" $ "service" service). */}}
{{- define "restante.secretName" -}}
{{- $own := index .root.Values.services .service -}}
{{- default (printf "%s-%s" (include "restante.fullname" .root) .service) $own.secretName -}}
{{- end }}

{{/* How a Service is reached from outside. */}}
{{- define "restante.externalService" -}}
type: {{ .type }}
{{- if ne .type "ClusterIP" }}
externalTrafficPolicy: {{ .externalTrafficPolicy }}
{{- end }}
{{- if eq .type "LoadBalancer" }}
{{- with .loadBalancerClass }}
loadBalancerClass: {{ . }}
{{- end }}
{{- with .loadBalancerIP }}
loadBalancerIP: {{ . }}
{{- end }}
{{- with .loadBalancerSourceRanges }}
loadBalancerSourceRanges:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Labels that dashboards and alerts know: the service, whatever the release and the role, beside namespace and pod. */}}
{{- define "restante.relabelings" -}}
- targetLabel: job
  replacement: restante
- sourceLabels: [{{ . }}]
  targetLabel: service
- sourceLabels: [__meta_kubernetes_pod_label_app_kubernetes_io_component]
  targetLabel: workload
{{- end }}

{{/*
The KafkaUser of a service: (dict "root" $ "user" service). Strimzi makes a Secret of the same name, which must not be that of
the service.
*/}}
{{- define "restante.kafkaUser" -}}
{{ include "restante.fullname" .root }}-{{ .user }}-kafka
{{- end }}

{{- define "restante.strimziCluster" -}}
{{ required "\n\nstrimzi.cluster is missing: the name of the Kafka cluster." .Values.strimzi.cluster }}
{{- end }}

{{/* A list that must not be empty, as JSON: (dict "name" path "list" list "what" advice). */}}
{{- define "restante.demand" -}}
{{- if not .list -}}{{- fail (printf "\n\n%s is empty: %s." .name .what) -}}{{- end -}}
{{- toJson .list -}}
{{- end }}
