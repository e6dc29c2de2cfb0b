import { createRequire } from 'node:module'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { incomingUrl, outgoingUrl } from './url-attributes.ts'

/** Starts the SDK as configured by its standard variables. @returns a function that flushes what is buffered. */
export function startSdk(serviceName: string): () => Promise<void> {
  const sdk = new NodeSDK({
    serviceName,
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: (request) => /^\/(healthz|readyz|metrics)/.test(request.url ?? ''),
        startIncomingSpanHook: incomingUrl,
        startOutgoingSpanHook: outgoingUrl,
      }),
      new UndiciInstrumentation({ startSpanHook: outgoingUrl }),
      new PgInstrumentation(),
    ],
  })
  sdk.start()
  // Instrumentation hooks into `require`; an `import` has the same, instrumented objects afterwards.
  const require = createRequire(import.meta.url)
  for (const name of ['node:http', 'pg']) require(name)
  return () => sdk.shutdown()
}
