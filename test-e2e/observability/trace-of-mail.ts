import type { RecordedSpan } from './otlp-receiver.ts'

/** The stages of a mail in its trace, in order: the service and the name of the span. */
export const STAGES = [
  ['mail-ingest', 'smtp mail'],
  ['mail-ingest', 'process mail'],
  ['webhooks-dispatcher', 'deliver webhook'],
] as const

/** The trace of the first mail that has gone all the way, in the order of time; undefined until there is one. */
export function traceOfMail(spans: readonly RecordedSpan[]): RecordedSpan[] | undefined {
  const traces = [...Map.groupBy(spans, ({ traceId }) => traceId).values()]
  const whole = traces.find((trace) =>
    STAGES.every(([service, name]) => trace.some((span) => span.service === service && span.name === name)),
  )
  return whole?.toSorted((a, b) => a.beginMs - b.beginMs)
}

/** Spans of other traces that are linked to one of this trace: consumers, which handle events of many traces together. */
export function linkedTo(trace: readonly RecordedSpan[], spans: readonly RecordedSpan[]): RecordedSpan[] {
  const [first] = trace
  return spans.filter(({ links }) => links.some(({ traceId }) => traceId === first?.traceId))
}
