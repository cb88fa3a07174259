export type Environment = Readonly<Record<string, string | undefined>>

/** Where traces go, by OpenTelemetry's own variables. Null where nobody asked for traces. */
export function endpointOf(environment: Environment): string | null {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null
  if (environment.OTEL_TRACES_EXPORTER?.toLowerCase() === 'none') return null
  const traces = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim()
  if (traces) return traces
  const all = environment.OTEL_EXPORTER_OTLP_ENDPOINT?.trim()
  return all ? `${all.replace(/\/+$/, '')}/v1/traces` : null
}
