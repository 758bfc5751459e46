{{/* The name of everything the chart makes. */}}
{{- define "easel.name" -}}
{{- if contains "easel" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-easel" .Release.Name | trunc 52 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{/* What finds the pods; it never changes. */}}
{{- define "easel.selector" -}}
app.kubernetes.io/name: easel
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "easel.labels" -}}
{{ include "easel.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "easel.account" -}}
{{ default (include "easel.name" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "easel.keys" -}}
{{ default (printf "%s-keys" (include "easel.name" .)) .Values.keys.secret }}
{{- end }}

{{/* Whether the hosts share run log and records. */}}
{{- define "easel.shared" -}}
{{- if and .Values.nats.urls .Values.postgres.secret }}yes{{ end -}}
{{- end }}
