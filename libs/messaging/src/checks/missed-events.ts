import type { TopicDefinition } from '@restante/contracts/events'
import type { Check, Finding } from '@restante/contracts/internal'
import { type Queryable, sql } from '@restante/service/database'
import { invalid } from '@restante/service/errors'
import type { Consumer } from '../consumer/consumer.ts'
import type { Kafka } from '../kafka/kafka.ts'
import { recordedSince } from './recorded-since.ts'

const MARKED = sql<{ event_id: string }, [consumer: string, ids: readonly string[]]>(
  'select event_id from consumed where consumer = $1 and event_id = any($2::text[])',
)

/**
 * Checks whether the service has the effect of every event that its consumers have passed since a time: a database that
 * was put back from a backup has lost those, while the offsets of its consumer groups are in Kafka. A repair applies
 * them. An event with a mark is left alone, so it may run beside the consumers and be repeated.
 */
export function missedEventsCheck({
  kafka,
  db,
  consumers,
}: {
  readonly kafka: Kafka
  readonly db: Queryable
  readonly consumers: readonly Pick<Consumer<TopicDefinition>, 'group' | 'topics' | 'accepts' | 'deliver'>[]
}): Check {
  return async ({ since, repair, after }) => {
    if (since === undefined) return { examined: 0, findings: [] }
    const { index, position } = parseAfter(after)
    const consumer = consumers[index]
    if (consumer === undefined) throw invalid(['after'], 'Not a position of this check')
    const { group, topics } = consumer
    const page = await recordedSince(kafka, topics, { since: new Date(since), after: position, group })
    const records = page.records.filter((record) => consumer.accepts(record))
    const ids = records.flatMap(({ headers }) => headers['ce_id'] ?? [])
    const marked = new Set((await db.query(MARKED, group, ids)).map(({ event_id }) => event_id))
    const missed = records.filter(({ headers }) => !marked.has(headers['ce_id'] ?? ''))
    if (repair) for (const record of missed) await consumer.deliver(record)
    const next = page.next === undefined ? nextConsumer(index, consumers.length) : `${index}:${page.next}`
    const findings = missed.length === 0 ? [] : [findingOf(group, missed.length, repair)]
    return { examined: page.records.length, findings, ...(next !== undefined && { next }) }
  }
}

function findingOf(group: string, count: number, repair: boolean): Finding {
  return { subject: group, problem: `${count} events had no effect here`, state: repair ? 'repaired' : 'open' }
}

function parseAfter(after: string | undefined): { index: number; position: string | undefined } {
  const [, index = '0', position = ''] = /^(\d{1,2}):(.*)$/.exec(after ?? '0:') ?? []
  return { index: Number(index), position: position === '' ? undefined : position }
}

function nextConsumer(index: number, count: number): string | undefined {
  return index + 1 < count ? `${index + 1}:` : undefined
}
