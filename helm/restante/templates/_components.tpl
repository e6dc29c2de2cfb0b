{{/*
What files/services.json says of the services. It is generated from the code.
*/}}
{{- define "restante.described" -}}
{{- .Files.Get "files/services.json" -}}
{{- end }}

{{/*
The components of the installation as a JSON array: a service, or one of the roles of mail-ingest. Each has its name, its
service, its role if it has one, and its values: the defaults, changed by those of the service and of the role.
*/}}
{{- define "restante.components" -}}
{{- $root := . -}}
{{- $components := list -}}
{{- range $service, $described := (include "restante.described" . | fromJson).services -}}
{{- $own := index $root.Values.services $service -}}
{{- if not (hasKey $root.Values.services $service) -}}{{- fail (printf "services.%s is missing: add an (empty) block for it to the values" $service) -}}{{- end -}}
{{- $values := mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy (omit $own "rolesApart" "roles")) -}}
{{- if $own.rolesApart -}}
{{- range $role := list "smtp" "pipeline" "api" -}}
{{- $merged := mergeOverwrite (deepCopy $values) (deepCopy (index $own.roles $role)) -}}
{{- $components = append $components (dict "name" (printf "%s-%s" $service $role) "service" $service "role" $role "values" $merged "described" $described) -}}
{{- end -}}
{{- else -}}
{{- $components = append $components (dict "name" $service "service" $service "role" "" "values" $values "described" $described) -}}
{{- end -}}
{{- end -}}
{{- toJson $components -}}
{{- end }}

{{/* The components of a service, by its name: (dict "root" $ "service" service). A JSON array of names. */}}
{{- define "restante.componentNames" -}}
{{- $own := index .root.Values.services .service -}}
{{- if $own.rolesApart -}}
{{- list (printf "%s-smtp" .service) (printf "%s-pipeline" .service) (printf "%s-api" .service) | toJson -}}
{{- else -}}
{{- list .service | toJson -}}
{{- end -}}
{{- end }}

{{/*
The named ports of a component as a JSON object: (dict "root" $ "component" component).
*/}}
{{- define "restante.ports" -}}
{{- $c := .component -}}
{{- $ports := dict "http" (int $c.described.port) "metrics" 9464 -}}
{{- if eq $c.service "gateway" -}}
{{- $_ := set $ports "internal" 3100 -}}
{{- if .root.Values.tracking.enabled -}}
{{- $_ := set $ports "track-https" 3443 -}}
{{- $_ := set $ports "track-http" 3080 -}}
{{- end -}}
{{- end -}}
{{- if eq $c.service "apps-signin" -}}
{{- $_ := set $ports "sign-in" 3100 -}}
{{- end -}}
{{- if and (eq $c.service "mail-ingest") (has $c.role (list "" "smtp")) -}}
{{- $_ := set $ports "smtp" 2525 -}}
{{- end -}}
{{- toJson $ports -}}
{{- end }}

{{/* The services that are clients of the public API, as a JSON array of names. */}}
{{- define "restante.apiClients" -}}
{{- $clients := list -}}
{{- range $service, $described := (include "restante.described" . | fromJson).services -}}
{{- if $described.uses.api }}{{- $clients = append $clients $service -}}{{- end -}}
{{- end -}}
{{- toJson $clients -}}
{{- end }}

{{/* The public port of the gateway's Service. */}}
{{- define "restante.services.gatewayPort" -}}
{{- (include "restante.described" . | fromJson).services.gateway.port -}}
{{- end }}
