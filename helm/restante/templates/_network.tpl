{{/* A rule for traffic to a place: (dict "place" {to, ports} "protocols" list). */}}
{{- define "restante.egressRule" -}}
{{- $protocols := default (list "TCP") .protocols -}}
- ports:
  {{- range $port := .place.ports }}
  {{- range $protocol := $protocols }}
    - { port: {{ int $port }}, protocol: {{ $protocol }} }
  {{- end }}
  {{- end }}
  {{- with .place.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* The internet, on some ports: (dict "root" $ "ports" list). */}}
{{- define "restante.internetRule" -}}
- ports:
  {{- range .ports }}
    - { port: {{ . }}, protocol: TCP }
  {{- end }}
  to:
  {{- range .root.Values.networkPolicy.internet }}
    - ipBlock:
        {{- toYaml . | nindent 8 }}
  {{- end }}
{{- end }}

{{/* DNS, of the cluster and of the servers in DNS_SERVERS: (dict "root" $ "settings" settings). */}}
{{- define "restante.dnsRules" -}}
{{ include "restante.egressRule" (dict "place" .root.Values.networkPolicy.dns "protocols" (list "UDP" "TCP")) }}
{{- range $server := splitList "," (default "" .settings.DNS_SERVERS) }}
{{- with trim $server }}
{{- $address := . }}
{{- $port := "53" }}
{{- if hasPrefix "[" . }}
{{- $address = regexReplaceAll "^\\[(.*)\\].*$" . "${1}" }}
{{- $port = default "53" (regexReplaceAll "^\\[.*\\]:?" . "") }}
{{- else if regexMatch "^[0-9.]+:[0-9]+$" . }}
{{- $address = regexReplaceAll ":.*$" . "" }}
{{- $port = regexReplaceAll "^.*:" . "" }}
{{- end }}
- ports:
    - { port: {{ $port }}, protocol: UDP }
    - { port: {{ $port }}, protocol: TCP }
  to:
    - ipBlock:
        cidr: {{ $address }}/{{ ternary "128" "32" (contains ":" $address) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Pods of a service, as peers of a rule: (dict "root" $ "services" names). */}}
{{- define "restante.servicePeers" -}}
{{- range $service := .services }}
{{- range $name := (include "restante.componentNames" (dict "root" $.root "service" $service) | fromJsonArray) }}
- podSelector:
    matchLabels:
      {{- include "restante.selector" (dict "root" $.root "name" $name) | nindent 6 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Pods that serve the HTTP port of a service: with the roles of mail-ingest apart, only those of the API. */}}
{{- define "restante.servingPeer" -}}
{{- $apart := (index .root.Values.services .service).rolesApart -}}
- podSelector:
    matchLabels:
      {{- include "restante.selector" (dict "root" .root "name" (ternary (printf "%s-api" .service) .service (default false $apart))) | nindent 6 }}
{{- end }}

{{/* Who may connect to a component: (dict "root" $ "component" component). */}}
{{- define "restante.ingressRules" -}}
{{- $root := .root -}}
{{- $c := .component -}}
{{- $policy := $root.Values.networkPolicy -}}
{{- $ports := include "restante.ports" . | fromJson -}}
{{- $serves := has $c.role (list "" "api") -}}
{{- $port := ternary "internal" "http" (eq $c.service "gateway") -}}
- ports: [{ port: metrics, protocol: TCP }]
  {{- with $policy.metricsFrom }}
  from:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- if and $serves $c.described.calledBy }}
- ports: [{ port: {{ $port }}, protocol: TCP }]
  from:
    {{- include "restante.servicePeers" (dict "root" $root "services" $c.described.calledBy) | trim | nindent 4 }}
{{- end }}
{{- $clients := include "restante.apiClients" $root | fromJsonArray }}
{{- if and $clients (eq $c.service "gateway") }}
- ports: [{ port: http, protocol: TCP }]
  from:
    {{- include "restante.servicePeers" (dict "root" $root "services" $clients) | trim | nindent 4 }}
{{- end }}
{{- range $public := ternary (list "http") (ternary (list "sign-in") list (eq $c.service "apps-signin")) (eq $c.service "gateway") }}
- ports: [{ port: {{ $public }}, protocol: TCP }]
  {{- with $policy.apiFrom }}
  from:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- range $name := list "smtp" "track-https" "track-http" }}
{{- if hasKey $ports $name }}
# Anyone.
- ports: [{ port: {{ $name }}, protocol: TCP }]
{{- end }}
{{- end }}
{{- end }}

{{/* Where a component may connect to: (dict "root" $ "component" component). */}}
{{- define "restante.egressRules" -}}
{{- $root := .root -}}
{{- $c := .component -}}
{{- $policy := $root.Values.networkPolicy -}}
{{- $services := (include "restante.described" $root | fromJson).services -}}
{{- $settings := include "restante.settings" . | fromJson -}}
{{- $uses := $c.described.uses -}}
{{ include "restante.dnsRules" (dict "root" $root "settings" $settings) }}
{{- range $called := $c.described.calls }}
- ports: [{ port: {{ ternary 3100 (int (index $services $called).port) (eq $called "gateway") }}, protocol: TCP }]
  to:
    {{- include "restante.servingPeer" (dict "root" $root "service" $called) | nindent 4 }}
{{- end }}
{{- if $uses.api }}
- ports: [{ port: {{ include "restante.services.gatewayPort" $root }}, protocol: TCP }]
  to:
    {{- include "restante.servingPeer" (dict "root" $root "service" "gateway") | nindent 4 }}
{{- end }}
{{- range $engine := list "postgres" "kafka" "redis" }}
{{- if index $uses $engine }}
{{ include "restante.egressRule" (dict "place" (index $policy $engine)) }}
{{- end }}
{{- end }}
{{- if and $uses.blobs $root.Values.blobs.s3.bucket }}
{{ include "restante.egressRule" (dict "place" $policy.s3) }}
{{- end }}
{{- if and $uses.clamd $settings.CLAMD_URL (not (hasPrefix "unix:" (default "" $settings.CLAMD_URL))) (has $c.role (list "" "pipeline")) }}
{{ include "restante.egressRule" (dict "place" $policy.clamd) }}
{{- end }}
{{- if and $uses.rspamd $settings.RSPAMD_URL (has $c.role (list "" "pipeline")) }}
{{ include "restante.egressRule" (dict "place" $policy.rspamd) }}
{{- end }}
{{- if and $uses.smarthost (or $settings.SMARTHOST $settings.SENDER_ROUTES_FILE) }}
{{ include "restante.egressRule" (dict "place" $policy.smarthost) }}
{{- end }}
{{- if $settings.OTEL_EXPORTER_OTLP_ENDPOINT }}
{{ include "restante.egressRule" (dict "place" $policy.telemetry) }}
{{- end }}
{{- if $settings.KAFKA_OAUTH_TOKEN_URL }}
{{ include "restante.egressRule" (dict "place" $policy.oauth) }}
{{- end }}
{{- $ports := list }}
{{- if $uses.web }}{{- $ports = append $ports 443 }}{{- end }}
{{- if and $uses.web (eq (default "false" $settings.ALLOW_HTTP_URLS) "true") }}{{- $ports = append $ports 80 }}{{- end }}
{{- if or $uses.mailServers $uses.mailProbe }}{{- $ports = append $ports (int (default 25 $settings.MX_PORT)) }}{{- end }}
{{- if $ports }}
{{ include "restante.internetRule" (dict "root" $root "ports" $ports) }}
{{- end }}
{{- with concat $policy.extraEgress $c.values.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end }}
