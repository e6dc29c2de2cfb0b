import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'

const tracer = trace.getTracer('@restante/service')

/**
 * Runs work inside a span of its own. The rows, events and calls that the work produces continue the trace.
 * @param traceparent of the work that caused this one, as it was stored; undefined: the current trace goes on.
 */
export async function inSpan<T>(
  name: string,
  traceparent: string | undefined,
  work: (span: WorkSpan) => Promise<T>,
): Promise<T> {
  const span = new WorkSpan(name, traceparent)
  try {
    return await span.within(() => work(span))
  } catch (error) {
    span.fail()
    throw error
  } finally {
    span.end()
  }
}

/** The span of work that is done in several parts, some of them together with other work. */
export class WorkSpan {
  readonly #span: Span
  readonly #parent: ReturnType<typeof context.active>

  constructor(name: string, traceparent: string | undefined) {
    this.#parent = traceparent === undefined ? context.active() : propagation.extract(ROOT_CONTEXT, { traceparent })
    this.#span = tracer.startSpan(name, {}, this.#parent)
  }

  /** Runs `work` with this span active: what it produces belongs to the span. */
  within<T>(work: () => T): T {
    return context.with(trace.setSpan(this.#parent, this.#span), work)
  }

  /** Adds facts: ids and codes, never content. */
  note(facts: Attributes): void {
    this.#span.setAttributes(facts)
  }

  fail(): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR })
  }

  end(): void {
    this.#span.end()
  }
}

/** Begins work that belongs to none that is in progress, such as work for others that waited for its turn. */
export function withoutTrace<T>(work: () => T): T {
  return context.with(ROOT_CONTEXT, work)
}

/** The trace of the current work, in the form stored in a row; undefined when tracing is off. */
export function currentTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {}
  propagation.inject(context.active(), carrier)
  return carrier.traceparent
}
