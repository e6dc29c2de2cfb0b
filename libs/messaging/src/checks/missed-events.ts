import type { TopicDefinition } from '@restante/contracts/events'
import type { Check, Finding } from '@restante/contracts/internal'
import { type Queryable, sql } from '@restante/service/database'
import { invalid } from '@restante/service/errors'
import type { Consumer } from '../consumer/consumer.ts'
import type { Kafka } from '../kafka/kafka.ts'
import type { ConsumedRecord } from '../kafka/record.ts'
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
    const missed = await withoutMark(db, group, records)
    if (repair) for (const record of missed) await consumer.deliver(record)
    // An event that fails once more goes to the dead letters, and has no mark.
    const left = repair ? await withoutMark(db, group, missed) : missed
    const next = page.next === undefined ? nextConsumer(index, consumers.length) : `${index}:${page.next}`
    return {
      examined: page.records.length,
      findings: findingsOf(group, { repaired: missed.length - left.length, left: left.length, repair }),
      ...(next !== undefined && { next }),
    }
  }
}

async function withoutMark(
  db: Queryable,
  group: string,
  records: readonly ConsumedRecord[],
): Promise<readonly ConsumedRecord[]> {
  if (records.length === 0) return []
  const ids = records.flatMap(({ headers }) => headers['ce_id'] ?? [])
  const marked = new Set((await db.query(MARKED, group, ids)).map(({ event_id }) => event_id))
  return records.filter(({ headers }) => !marked.has(headers['ce_id'] ?? ''))
}

function findingsOf(
  subject: string,
  { repaired, left, repair }: { readonly repaired: number; readonly left: number; readonly repair: boolean },
): Finding[] {
  const advice = 'they failed, and are in the dead letters: correct what is logged there, then check with --repair'
  const findings: Finding[] = []
  if (repaired > 0) findings.push({ subject, problem: problemOf(repaired), state: 'repaired' })
  if (left > 0) findings.push({ subject, problem: problemOf(left), state: 'open', ...(repair && { advice }) })
  return findings
}

function problemOf(count: number): string {
  return `${count} events had no effect here`
}

function parseAfter(after: string | undefined): { index: number; position: string | undefined } {
  const [, index = '0', position = ''] = /^(\d{1,2}):(.*)$/.exec(after ?? '0:') ?? []
  return { index: Number(index), position: position === '' ? undefined : position }
}

function nextConsumer(index: number, count: number): string | undefined {
  return index + 1 < count ? `${index + 1}:` : undefined
}
