/**
 * Turns OpenTelemetry on when the standard variables name an OTLP endpoint, and leaves it out of the process
 * otherwise. Must be called before the instrumented modules are first used.
 * @returns a function that flushes what is buffered.
 */
export async function startTelemetry(
  service: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<() => Promise<void>> {
  const endpoint = environment['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  if (endpoint === undefined || environment['OTEL_SDK_DISABLED'] === 'true') return async () => {}
  const { startSdk } = await import('./sdk.ts')
  return startSdk(service)
}
