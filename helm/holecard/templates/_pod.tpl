{{- /* What every pod of the house has in common. Each is called with (dict "root" $ "component" NAME …). */ -}}

{{- define "holecard.name" -}}
{{ .root.Release.Name }}-{{ .component }}
{{- end }}

{{- define "holecard.selector" -}}
app.kubernetes.io/name: holecard
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "holecard.labels" -}}
{{ include "holecard.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "holecard.image" -}}
{{- with .root.Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag }}{{ end -}}
{{- end -}}
{{- end }}

{{- /* The stable names of all pods that host .service, by commas. */ -}}
{{- define "holecard.addresses" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $found := list -}}
{{- range $owner, $settings := $root.Values.owners -}}
{{- if $settings -}}
{{- if has $service $settings.services -}}
{{- $name := include "holecard.name" (dict "root" $root "component" $owner) -}}
{{- range $number := until (int $settings.replicas) -}}
{{- $found = append $found (printf "%s-%d.%s.%s.svc:8600" $name $number $name $root.Release.Namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not $found }}{{ fail (printf "no owner hosts %s: name it in owners.<name>.services" $service) }}{{ end -}}
{{- join "," $found -}}
{{- end }}

{{- define "holecard.surveillances" -}}
{{- $root := .root -}}
{{- $name := include "holecard.name" (dict "root" $root "component" "surveillance") -}}
{{- $found := list -}}
{{- range $number := until (int $root.Values.surveillance.replicas) -}}
{{- $found = append $found (printf "%s-%d.%s.%s.svc:8600" $name $number $name $root.Release.Namespace) -}}
{{- end -}}
{{- join "," $found -}}
{{- end }}

{{- define "holecard.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "holecard.containerSecurity" -}}
image: {{ include "holecard.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "holecard.probes" -}}
startupProbe:
  # A replay of a long journal may take a while.
  httpGet: {path: /ready, port: metrics}
  periodSeconds: 2
  failureThreshold: 150
readinessProbe:
  httpGet: {path: /ready, port: metrics}
  periodSeconds: 2
livenessProbe:
  httpGet: {path: /live, port: metrics}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
{{- end }}

{{- define "holecard.where" -}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
{{- end }}

{{- /* How a process takes its journal from Kafka. */ -}}
{{- define "holecard.journalArgs" -}}
- --journal=kafka
- --kafka={{ .root.Values.kafka.bootstrap }}
- --partitions={{ int .root.Values.kafka.partitions }}
{{- with .root.Values.kafka.prefix }}
- --prefix={{ . }}
{{- end }}
{{- if .root.Values.kafka.securitySecret }}
- --security=/etc/holecard/kafka/security.toml
{{- end }}
- --session-ms={{ int .root.Values.kafka.sessionMs }}
- --heartbeat-ms={{ int .root.Values.kafka.heartbeatMs }}
{{- end }}

{{- define "holecard.hostingArgs" -}}
- --tls=/etc/holecard/tls
- --data=/data
- --metrics=0.0.0.0:8690
{{- if .root.Values.floorsConfigMap }}
- --floor-file=/etc/holecard/floors/floors.toml
{{- end }}
- --log-level={{ .root.Values.logLevel }}
- --log-json
{{- end }}

{{- define "holecard.mounts" -}}
- {name: data, mountPath: /data}
- {name: tmp, mountPath: /tmp}
- {name: tls, mountPath: /etc/holecard/tls, readOnly: true}
{{- if and .journal .root.Values.kafka.securitySecret }}
- {name: kafka, mountPath: /etc/holecard/kafka, readOnly: true}
{{- end }}
{{- if and .floors .root.Values.floorsConfigMap }}
- {name: floors, mountPath: /etc/holecard/floors, readOnly: true}
{{- end }}
{{- end }}

{{- /* Certificate, and who is let in, in one folder, as holecard reads it; keys are for its group alone. */ -}}
{{- define "holecard.volumes" -}}
- {name: tmp, emptyDir: {}}
- name: tls
  projected:
    defaultMode: 0440
    sources:
      - secret: {name: {{ .secret }}}
      - configMap: {name: {{ .root.Values.tls.enrolmentConfigMap }}}
{{- if and .journal .root.Values.kafka.securitySecret }}
- name: kafka
  secret: {secretName: {{ .root.Values.kafka.securitySecret }}, defaultMode: 0440}
{{- end }}
{{- if and .floors .root.Values.floorsConfigMap }}
- name: floors
  configMap: {name: {{ .root.Values.floorsConfigMap }}}
{{- end }}
{{- end }}

{{- define "holecard.spread" -}}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "holecard.selector" . | nindent 14 }}
{{- end }}

{{- define "holecard.monitor" -}}
{{- if .root.Values.monitoring.enabled }}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "holecard.name" . }}
  labels:
    {{- include "holecard.labels" . | nindent 4 }}
spec:
  # Gives every process job="holecard", by which the rules know it.
  jobLabel: app.kubernetes.io/name
  selector:
    matchLabels:
      {{- include "holecard.selector" . | nindent 6 }}
  sampleLimit: 20000
  endpoints:
    - port: metrics
      interval: {{ .root.Values.monitoring.scrapeInterval }}
      # Our own label `service` is the gRPC service, not Kubernetes'.
      honorLabels: true
      relabelings:
        - {targetLabel: component, replacement: {{ .component }}}
{{- end }}
{{- end }}

{{- /* Who may come in and where pods may go; .callers are components, "*" for anybody. */ -}}
{{- define "holecard.policy" -}}
{{- if .root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "holecard.name" . }}
  labels:
    {{- include "holecard.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "holecard.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - ports: [{port: {{ .port }}, protocol: TCP}]
      {{- if .within }}
      from:
        - podSelector:
            matchLabels:
              app.kubernetes.io/name: holecard
              app.kubernetes.io/instance: {{ .root.Release.Name }}
      {{- end }}
    - ports: [{port: 8690, protocol: TCP}]
      from:
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: {{ .root.Values.monitoring.namespace }}
  egress:
    - ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]
    - ports: [{port: 8600, protocol: TCP}]
      to:
        - podSelector:
            matchLabels:
              app.kubernetes.io/name: holecard
              app.kubernetes.io/instance: {{ .root.Release.Name }}
    {{- if .journal }}
    - ports: [{port: {{ int .root.Values.kafka.port }}, protocol: TCP}]
    {{- end }}
    {{- if .database }}
    - ports: [{port: 5432, protocol: TCP}]
    {{- end }}
{{- end }}
{{- end }}
