import { type Link, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Logger } from '@restante/service/telemetry'
import { traceLinks } from '../kafka/envelope.ts'
import { formatPosition } from '../kafka/position.ts'
import type { ConsumedRecord } from '../kafka/record.ts'
import { handled, handlingSeconds, overtook } from '../kafka/telemetry.ts'

/** Outcome: applied now, applied before (duplicate), ignored (no handler), or dead-lettered. */
export type Outcome = 'handled' | 'duplicate' | 'skipped' | 'dead_letter'

export interface Report {
  readonly outcome: Outcome
  readonly attempt: number
  readonly error?: unknown
}

export interface BatchReport {
  /** Events of the batch that had not been processed before. */
  readonly handled: number
  readonly attempt: number
}

const tracer = trace.getTracer('@restante/messaging')

/** Reports what happens to records: one span, one log line, the metrics. */
export class Reporter {
  readonly #group: string
  readonly #log: Logger
  readonly #isAhead: boolean

  /** @param options `isAhead`: the records overtake older ones that wait. */
  constructor(options: { group: string; log: Logger; isAhead?: boolean }) {
    this.#group = options.group
    this.#log = options.log
    this.#isAhead = options.isAhead ?? false
    if (this.#isAhead) overtook.inc({ group: this.#group }, 0)
  }

  skipped(): void {
    handled.inc({ group: this.#group, outcome: 'skipped' })
  }

  /** Runs the handling of one record in a span that is linked to its producer's, and reports its outcome. */
  one(record: ConsumedRecord, handle: () => Promise<Report>): Promise<Report> {
    const startedAt = performance.now()
    return this.#traced(
      record.topic,
      traceLinks(record.headers),
      { 'messaging.message.id': record.headers['ce_id'] ?? '' },
      async () => {
        const report = await handle()
        const ms = performance.now() - startedAt
        handled.inc({ group: this.#group, outcome: report.outcome })
        handlingSeconds.observe({ group: this.#group }, ms / 1_000)
        this.#line(report, {
          topic: record.topic,
          type: record.headers['ce_type'],
          id: record.headers['ce_id'],
          partition: record.partition,
          offset: record.offset,
          ms: Math.round(ms * 10) / 10,
          lagMs: Date.now() - record.timestamp,
        })
        return report
      },
    )
  }

  /**
   * The same for a batch that is handled in one transaction: one span, one line, and each event in the metrics. Nothing
   * is reported when `handle` returns nothing.
   */
  many(records: readonly ConsumedRecord[], handle: () => Promise<BatchReport | undefined>): Promise<boolean> {
    const startedAt = performance.now()
    const links = records.flatMap((record) => traceLinks(record.headers))
    const topic = [...new Set(records.map((record) => record.topic))].join(',')
    return this.#traced(topic, links, { 'messaging.batch.message_count': records.length }, async () => {
      const report = await handle()
      if (!report) return false
      const ms = performance.now() - startedAt
      const duplicates = records.length - report.handled
      handled.inc({ group: this.#group, outcome: 'handled' }, report.handled)
      if (this.#isAhead) overtook.inc({ group: this.#group }, report.handled)
      handled.inc({ group: this.#group, outcome: 'duplicate' }, duplicates)
      handlingSeconds.observe({ group: this.#group }, ms / 1_000)
      this.#line(
        { outcome: 'handled', attempt: report.attempt },
        {
          topic,
          events: records.length,
          duplicates,
          from: positions(records),
          ms: Math.round(ms * 10) / 10,
          lagMs: Date.now() - Math.min(...records.map(({ timestamp }) => timestamp)),
        },
      )
      return true
    })
  }

  #line(report: Report, fields: object): void {
    const ahead = this.#isAhead && { ahead: true }
    const line = { group: this.#group, outcome: report.outcome, attempt: report.attempt, ...fields, ...ahead }
    if (report.outcome === 'dead_letter') {
      this.#log.error({ ...line, error: anonymous(report.error) }, 'event dead-lettered')
      return
    }
    this.#log.info(line, 'event handled')
  }

  #traced<T>(
    topic: string,
    links: Link[],
    attributes: Record<string, string | number>,
    work: () => Promise<T>,
  ): Promise<T> {
    const options = {
      kind: SpanKind.CONSUMER,
      links,
      attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': topic, ...attributes },
      root: true,
    }
    return tracer.startActiveSpan(`process ${topic}`, options, async (span) => {
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
}

/** Where the first record of each partition is. */
function positions(records: readonly ConsumedRecord[]): string[] {
  const first = new Map<string, string>()
  for (const record of records) {
    const partition = `${record.topic}/${record.partition}`
    if (!first.has(partition)) first.set(partition, formatPosition(record))
  }
  return [...first.values()]
}

/**
 * What a log may contain of an error whose message could quote a mail: its class, and where in the code it was thrown.
 */
function anonymous(error: unknown): object {
  if (!(error instanceof Error)) return { name: typeof error }
  const at = error.stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 4)
    .map((line) => line.trim())
  return { name: error.name, ...('code' in error && { code: error.code }), at }
}
