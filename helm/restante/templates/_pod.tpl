{{/* What every pod has: it belongs to no user of the node, and gets no token of the API server. */}}
{{- define "restante.podBase" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "restante.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The password of the service's KafkaUser, which the operator of Strimzi makes: (dict "root" $ "user" user). */}}
{{- define "restante.kafkaPassword" -}}
- name: KAFKA_SASL_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ include "restante.kafkaUser" . }}
      key: password
{{- end }}

{{/* Volumes of a component: (dict "root" $ "component" component). */}}
{{- define "restante.volumes" -}}
{{- range (include "restante.files" . | fromJsonArray) }}
- name: {{ .volume }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    items:
      {{- toYaml .items | nindent 6 }}
{{- end }}
{{- if and .component.described.uses.blobs .root.Values.blobs.existingClaim }}
- name: blobs
  persistentVolumeClaim:
    claimName: {{ .root.Values.blobs.existingClaim }}
{{- end }}
{{- with .component.values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "restante.volumeMounts" -}}
{{- range (include "restante.files" . | fromJsonArray) }}
- name: {{ .volume }}
  mountPath: {{ .folder }}
  readOnly: true
{{- end }}
{{- if and .component.described.uses.blobs .root.Values.blobs.existingClaim }}
- name: blobs
  mountPath: /var/lib/restante/blobs
{{- end }}
{{- with .component.values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Where pods may run: (dict "root" $ "component" component). */}}
{{- define "restante.placement" -}}
{{- $values := .component.values -}}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Replicas are spread over zones and nodes. */}}
{{- define "restante.topologySpread" -}}
{{- $c := .component -}}
topologySpreadConstraints:
{{- if $c.values.topologySpreadConstraints }}
  {{- toYaml $c.values.topologySpreadConstraints | nindent 2 }}
{{- else }}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "restante.selector" (dict "root" $.root "name" $c.name) | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}
{{- end }}
