{{/* A Job that runs before the services of a version do. */}}
{{- define "restante.job" }}
{{- /* As a component it is no service: of files it has those that all pods have. */}}
{{- $context := dict "root" .root "component" (dict "service" "" "role" "" "values" .root.Values.jobs "described" (dict "uses" dict)) }}
---
apiVersion: batch/v1
kind: Job
metadata:
  {{- $hook := dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-weight" .weight "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" }}
  {{- include "restante.metadata" (dict "root" .root "name" .name "object" .object "annotations" $hook) | nindent 2 }}
spec:
  backoffLimit: 3
  activeDeadlineSeconds: {{ .root.Values.jobs.activeDeadlineSeconds }}
  template:
    metadata:
      labels:
        {{- include "restante.labels" (dict "root" .root "name" .name) | nindent 8 }}
    spec:
      {{- include "restante.podBase" .root | nindent 6 }}
      restartPolicy: Never
      {{- include "restante.placement" $context | nindent 6 }}
      containers:
        - name: {{ .name }}
          image: {{ include "restante.image" (dict "root" .root "service" .service) }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          command:
            {{- toYaml .command | nindent 12 }}
          securityContext:
            {{- include "restante.containerSecurity" .root | nindent 12 }}
          env:
            {{- .env | nindent 12 }}
          resources:
            {{- toYaml .root.Values.jobs.resources | nindent 12 }}
          {{- with include "restante.volumeMounts" $context | trim }}
          volumeMounts:
            {{- . | nindent 12 }}
          {{- end }}
      {{- with include "restante.volumes" $context | trim }}
      volumes:
        {{- . | nindent 8 }}
      {{- end }}
{{- end }}

{{- define "restante.databaseEnvironment" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: DATABASE_URL
- name: DATABASE_DIRECT_URL
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: DATABASE_DIRECT_URL
      optional: true
{{- if .root.Values.engineCa.secretName }}
- name: ENGINE_CA_FILE
  value: /etc/restante/engines/ca.crt
{{- end }}
{{- end }}

{{/* What the program for topics needs of the gateway's environment. */}}
{{- define "restante.kafkaEnvironment" -}}
{{- range $component := (include "restante.components" . | fromJsonArray) }}
{{- if eq $component.name "gateway" }}
{{- range $name, $value := (include "restante.settings" (dict "root" $ "component" $component) | fromJson) }}
{{- if or (hasPrefix "KAFKA_" $name) (has $name (list "TOPIC_PREFIX" "ENGINE_CA_FILE")) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- range $name, $variable := $component.described.variables }}
{{- if and (hasPrefix "KAFKA_" $name) $variable.confidential }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "restante.secretName" (dict "root" $ "service" "gateway") }}
      key: {{ $name }}
      optional: true
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
