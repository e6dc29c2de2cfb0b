import { type EventOf, type Topic, type TopicDefinition, topics } from '@restante/contracts/events'
import { type BatchHandler, Consumer, decodeEvent, type Kafka, type RecordedEvent } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { holdAmong } from '@restante/tenancy'
import { addPoints } from '../series/add.ts'
import type { Point } from '../series/series.ts'
import { CHANGING_TYPES } from './changes.ts'
import { countEvents } from './count.ts'
import { type Entity, recordEntities } from './entities.ts'
import { countLag } from './telemetry.ts'

interface CountingOptions {
  readonly kafka: Kafka
  readonly db: Database
}

/** The topics whose events change the series of the scopes that they name. */
export const FACT_TOPICS = [
  topics['mail.messages'],
  topics['mail.deliveries'],
  topics['mail.drafts'],
  topics['domains.events'],
] as const satisfies readonly TopicDefinition[]

/** Most events in one transaction. */
const TOGETHER = 500
/** Nobody needs a figure sooner. */
const GATHER_MS = 250
const BATCH: BatchHandler = {
  types: CHANGING_TYPES,
  batchSize: TOGETHER,
  effectMany: countTimed,
}

/** Counts what happens: one transaction for many events, so that the cost of one is that of a few array elements. */
export function factsConsumer({ kafka, db }: CountingOptions): Consumer<TopicDefinition> {
  return new Consumer<TopicDefinition>({
    kafka,
    db,
    service: 'metrics',
    topics: FACT_TOPICS.filter((topic) => topic !== topics['mail.deliveries']),
    name: 'facts',
    gatherMs: GATHER_MS,
    batch: BATCH,
  })
}

/**
 * Counts what became of sent mail. It is a consumer of its own, because a public event has the id of the fact that it
 * tells: one that took both would take the second for a repetition of the first.
 */
export function deliveriesConsumer({ kafka, db }: CountingOptions): Consumer<TopicDefinition> {
  return new Consumer<TopicDefinition>({
    kafka,
    db,
    service: 'metrics',
    topic: topics['mail.deliveries'],
    gatherMs: GATHER_MS,
    batch: BATCH,
  })
}

async function countTimed(tx: Tx, events: readonly RecordedEvent[]): Promise<void> {
  await countEvents(tx, events)
  for (const { time } of events) countLag.observe(Math.max(Date.now() - time.getTime(), 0) / 1_000)
}

/** Counts the domains of organizations and pods. */
export function domainsConsumer({ kafka, db }: CountingOptions): Consumer<Topic<'domains.state'>> {
  return new Consumer({
    kafka,
    db,
    service: 'metrics',
    topic: topics['domains.state'],
    batch: {
      effectMany: async (tx, recorded) => {
        const events = recorded.map((event) => decodeEvent(topics['domains.state'], event))
        await countEntities(tx, 'created', events.flatMap(createdDomain))
        await countEntities(tx, 'deleted', events.flatMap(deletedDomain))
      },
    },
  })
}

/** An entity that was created or deleted at a time. */
export type Timed = Entity & { readonly at: Date }
type DomainEvent = EventOf<Topic<'domains.state'>>

function domainOf({ payload }: DomainEvent, at: string): Timed {
  const { domain_uid: id, organization_id: organizationId, pod_id: podId } = payload
  return { kind: 'domain', id, organizationId, podId, at: new Date(at) }
}

function createdDomain(event: DomainEvent): Timed[] {
  return event.type === 'domain.changed' ? [domainOf(event, event.payload.created_at)] : []
}

function deletedDomain(event: DomainEvent): Timed[] {
  return event.type === 'domain.deleted' ? [domainOf(event, event.payload.deleted_at)] : []
}

/**
 * Counts creations or deletions of what is in organizations; a deleted organization or pod is left alone.
 * @returns the points of those that were not counted before.
 */
export async function countEntities(
  tx: Tx,
  what: 'created' | 'deleted',
  given: readonly Timed[],
): Promise<readonly Point[]> {
  if (given.length === 0) return []
  const deleted = await holdAmong(
    tx,
    given.flatMap(({ organizationId, podId }) => [organizationId, ...(podId === undefined ? [] : [podId])]),
  )
  // One statement cannot write a row twice.
  const entities = new Map(given.map((entity) => [`${entity.kind} ${entity.id}`, entity]))
  const live = [...entities.values()].filter(({ organizationId }) => !deleted.has(organizationId))
  const points = (await recordEntities(tx, what, live)).filter(({ scope }) => !deleted.has(scope.id))
  await addPoints(tx, points)
  return points
}
