{{/*
An Ingress of a service: (dict "root" $ "service" service "port" name "certificate" key "hosts" list "tlsSecretName" name).
*/}}
{{- define "restante.ingress" -}}
{{- $values := .root.Values -}}
{{- $fullname := include "restante.fullname" .root -}}
{{- $issued := and $values.certificates.enabled (not (empty (index $values.certificates .certificate).dnsNames)) -}}
{{- $tls := default (ternary (printf "%s-%s-tls" $fullname (kebabcase .certificate)) "" $issued) .tlsSecretName -}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  {{- include "restante.metadata" (dict "root" .root "name" .service "annotations" $values.ingress.annotations) | nindent 2 }}
spec:
  {{- with $values.ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- if $tls }}
  tls:
    - secretName: {{ $tls }}
      hosts:
        {{- toYaml .hosts | nindent 8 }}
  {{- end }}
  rules:
    {{- range .hosts }}
    - host: {{ . | quote }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: {{ $fullname }}-{{ $.service }}
                port:
                  name: {{ $.port }}
    {{- end }}
{{- end }}
