import { context, propagation, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'

const tracer = trace.getTracer('@restante/mail-ingest')

/** Does a piece of work inside a span of its own; what it raises (rows, events, calls) carries the trace on. */
export function inSpan<T>(name: string, traceparent: string | undefined, work: () => Promise<T>): Promise<T> {
  const parent = traceparent === undefined ? context.active() : propagation.extract(ROOT_CONTEXT, { traceparent })
  return tracer.startActiveSpan(name, {}, parent, async (span) => {
    try {
      return await work()
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR })
      throw error
    } finally {
      span.end()
    }
  })
}

/** The trace of the work that is under way, as a row keeps it for whoever goes on; undefined when tracing is off. */
export function currentTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {}
  propagation.inject(context.active(), carrier)
  return carrier.traceparent
}
