import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { NodeSDK } from '@opentelemetry/sdk-node'

/**
 * Turns OpenTelemetry on when the standard variables name an OTLP endpoint, and leaves it out of the process
 * otherwise. Must be called before the instrumented modules are first used.
 * @returns a function that flushes what is buffered.
 */
export function startTelemetry(
  service: string,
  environment: Readonly<Record<string, string | undefined>>,
): () => Promise<void> {
  const endpoint = environment['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  if (endpoint === undefined || environment['OTEL_SDK_DISABLED'] === 'true') return async () => {}
  const sdk = new NodeSDK({
    serviceName: service,
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: (request) => /^\/(healthz|readyz|metrics)/.test(request.url ?? ''),
      }),
      new UndiciInstrumentation(),
      new PgInstrumentation(),
    ],
  })
  sdk.start()
  return () => sdk.shutdown()
}
