{{/* A value as it is written in the environment. Numbers of values are floats, which would become 2.097152e+10. */}}
{{- define "restante.settingText" -}}
{{- if kindIs "float64" . -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end }}

{{/*
The variables of a component that are no secrets, as a JSON object: (dict "root" $ "component" component). Settings of the
installation go to the services that declare them; what the chart knows itself is computed.
*/}}
{{- define "restante.settings" -}}
{{- $root := .root -}}
{{- $c := .component -}}
{{- $declared := $c.described.variables -}}
{{- $settings := dict -}}
{{- range $name, $value := $root.Values.settings -}}
{{- if or (hasKey $declared $name) (hasPrefix "OTEL_" $name) -}}
{{- $_ := set $settings $name (include "restante.settingText" $value) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := $c.values.settings -}}
{{- $_ := set $settings $name (include "restante.settingText" $value) -}}
{{- end -}}
{{- range $name, $value := (include "restante.computed" . | fromJson) -}}
{{- if hasKey $declared $name -}}{{- $_ := set $settings $name $value -}}{{- end -}}
{{- end -}}
{{- range $name, $variable := $declared -}}
{{- if and (or $variable.required (eq $name "KAFKA_BROKERS")) (not $variable.confidential) (not (index $settings $name)) -}}
{{- fail (printf "\n\nsettings.%s is missing. %s." $name $variable.meaning) -}}
{{- end -}}
{{- end -}}
{{- toJson $settings -}}
{{- end }}

{{/* Variables that follow from the rest of the values. A component gets those that its service declares. */}}
{{- define "restante.computed" -}}
{{- $root := .root -}}
{{- $c := .component -}}
{{- $fullname := include "restante.fullname" $root -}}
{{- $ports := include "restante.ports" . | fromJson -}}
{{- $computed := dict "PORT" (toString (index $ports "http")) "METRICS_PORT" (toString (index $ports "metrics")) "SMTP_PORT" "2525" "AUTH_PORT" "3100" -}}
{{- range $peer, $described := (include "restante.described" $root | fromJson).services -}}
{{- $port := ternary 3100 (int $described.port) (eq $peer "gateway") -}}
{{- $_ := set $computed (printf "%s_URL" ($peer | upper | replace "-" "_")) (printf "http://%s-%s:%d" $fullname $peer $port) -}}
{{- end -}}
{{- $_ := set $computed "API_URL" (printf "http://%s-gateway:%s" $fullname (include "restante.services.gatewayPort" $root)) -}}
{{- if eq $c.service "gateway" -}}
{{- $_ := set $computed "INTERNAL_PORT" "3100" -}}
{{- if $root.Values.tracking.enabled -}}
{{- $_ := set $computed "TRACKING_HTTPS_PORT" "3443" -}}
{{- $_ := set $computed "TRACKING_HTTP_PORT" "3080" -}}
{{- end -}}
{{- end -}}
{{- with $c.role }}{{- $_ := set $computed "ROLES" . -}}{{- end -}}
{{- $_ := set $computed "BLOB_STORE" (include "restante.blobStore" $root) -}}
{{- if $root.Values.engineCa.secretName -}}{{- $_ := set $computed "ENGINE_CA_FILE" "/etc/restante/engines/ca.crt" -}}{{- end -}}
{{- if $root.Values.strimzi.users.enabled -}}
{{- $_ := set $computed "KAFKA_SASL_MECHANISM" "scram-sha-512" -}}
{{- $_ := set $computed "KAFKA_SASL_USERNAME" (include "restante.kafkaUser" (dict "root" $root "user" $c.service)) -}}
{{- end -}}
{{- range $file := (include "restante.files" . | fromJsonArray) -}}
{{- range $name, $path := $file.variables -}}{{- $_ := set $computed $name $path -}}{{- end -}}
{{- end -}}
{{- toJson $computed -}}
{{- end }}

{{/* BLOB_STORE: a bucket, or a directory of a volume that several pods can write. */}}
{{- define "restante.blobStore" -}}
{{- $s3 := .Values.blobs.s3 -}}
{{- $claim := .Values.blobs.existingClaim -}}
{{- if and $s3.bucket $claim -}}{{- fail "\n\nblobs.s3.bucket and blobs.existingClaim are both set; mail is stored in one of them." -}}{{- end -}}
{{- if $claim -}}
directory:/var/lib/restante/blobs/store
{{- else if $s3.bucket -}}
{{- $query := list -}}
{{- with $s3.region }}{{- $query = append $query (printf "region=%s" .) -}}{{- end -}}
{{- with $s3.endpoint }}{{- $query = append $query (printf "endpoint=%s" .) -}}{{- end -}}
{{- if and $s3.endpoint (not $s3.pathStyle) }}{{- $query = append $query "path_style=false" -}}{{- end -}}
s3://{{ $s3.bucket }}{{ with $s3.prefix }}/{{ . }}{{ end }}{{ with $query }}?{{ join "&" . }}{{ end }}
{{- else -}}
{{- fail "\n\nSay where mail is stored: set blobs.s3.bucket, or blobs.existingClaim to the name of a PersistentVolumeClaim with the access mode ReadWriteMany, because the pods of mail-ingest and mail-send share it." -}}
{{- end -}}
{{- end }}

{{/*
Secrets that a component reads as files, as a JSON array: the volume, its folder, and the variables that name its files.
*/}}
{{- define "restante.files" -}}
{{- $values := .root.Values -}}
{{- $c := .component -}}
{{- $files := list -}}
{{- /* Jobs are no services; they reach engines. A service without engines trusts no authority of theirs. */ -}}
{{- if or (not $c.service) (hasKey (default dict $c.described.variables) "ENGINE_CA_FILE") -}}
{{- with $values.engineCa.secretName -}}
{{- $files = append $files (dict "volume" "engine-ca" "secret" . "folder" "/etc/restante/engines" "items" (list (dict "key" $values.engineCa.key "path" "ca.crt")) "variables" dict) -}}
{{- end -}}
{{- end -}}
{{- if eq $c.service "mail-send" -}}
{{- range $type, $key := $values.dkim -}}
{{- if $key.secretName -}}
{{- $folder := printf "/etc/restante/dkim/%s" $type -}}
{{- $prefix := ternary "DKIM" "DKIM_ED25519" (eq $type "rsa") -}}
{{- $variables := dict (printf "%s_KEY_FILE" $prefix) (printf "%s/key.pem" $folder) (printf "%s_SELECTOR" $prefix) (required (printf "\n\ndkim.%s.selector is missing: the label below _domainkey at which the public key is published" $type) $key.selector) -}}
{{- $files = append $files (dict "volume" (printf "dkim-%s" $type) "secret" $key.secretName "folder" $folder "items" (list (dict "key" $key.key "path" "key.pem")) "variables" $variables) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (eq $c.service "domains-dns") $values.domainConnect.secretName -}}
{{- $files = append $files (dict "volume" "domain-connect" "secret" $values.domainConnect.secretName "folder" "/etc/restante/domain-connect" "items" (list (dict "key" $values.domainConnect.key "path" "key.pem")) "variables" (dict "DOMAIN_CONNECT_KEY_FILE" "/etc/restante/domain-connect/key.pem")) -}}
{{- end -}}
{{- $smtp := include "restante.smtpCertificate" .root -}}
{{- if and (eq $c.service "mail-ingest") (has $c.role (list "" "smtp")) $smtp -}}
{{- $files = append $files (dict "volume" "smtp-tls" "secret" $smtp "folder" "/etc/restante/smtp" "items" (list (dict "key" "tls.crt" "path" "tls.crt") (dict "key" "tls.key" "path" "tls.key")) "variables" (dict "SMTP_TLS_CERT" "/etc/restante/smtp/tls.crt" "SMTP_TLS_KEY" "/etc/restante/smtp/tls.key")) -}}
{{- end -}}
{{- toJson $files -}}
{{- end }}

{{/* The Secret with the certificate of the SMTP server; empty: it makes one for itself. */}}
{{- define "restante.smtpCertificate" -}}
{{- if .Values.smtp.tls.secretName -}}
{{ .Values.smtp.tls.secretName }}
{{- else if and .Values.certificates.enabled .Values.certificates.smtp.dnsNames -}}
{{ include "restante.fullname" . }}-smtp-tls
{{- end -}}
{{- end }}

{{/* A duration such as 250ms, 30s, 2m or 1h in whole seconds, rounded up. */}}
{{- define "restante.seconds" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- if eq $unit "ms" -}}{{ div (add $number 999) 1000 }}
{{- else if eq $unit "s" -}}{{ $number }}
{{- else if eq $unit "m" -}}{{ mul $number 60 }}
{{- else if eq $unit "h" -}}{{ mul $number 3600 }}
{{- else -}}{{ mul $number 86400 }}
{{- end -}}
{{- end }}
