import { topics } from '@restante/contracts/events'
import type { CheckPage, Finding } from '@restante/contracts/internal'
import { decodeEvent, type Kafka, readEnvelope, recordedSince } from '@restante/messaging'
import { sql } from '@restante/service/database'
import type { Db } from '../../storage/database.ts'
import type { CheckOptions } from './request.ts'
import type { Restoring } from './restoring.ts'

const topic = topics.tenancy
type TenancyEvent = ReturnType<typeof decodeTenancy>

/** Events after which an inbox or a key exists. */
type Creation = TenancyEvent & { type: 'inbox.changed' | 'credential.changed' }

const KNOWN = sql<{ id: string; live: boolean }, [ids: readonly string[]]>(`
select uid as id, deleted_at is null as live from inboxes where uid = any($1::uuid[])
 union all
select id, deleting_at is null from organizations where id = any($1::uuid[])
 union all
select id, true from credentials where id = any($1::uuid[])`)

interface Options {
  readonly db: Db
  readonly kafka: Kafka
  readonly restoring: Restoring
}

/**
 * Compares the gateway with its own events since a backup that its database was put back from. A repair deletes and
 * revokes again what was deleted and revoked, and creates lost inboxes again. Keys that were created since are lost:
 * nothing but the database ever had the hashes of their secrets.
 */
export async function* lostChanges(
  { db, kafka, restoring }: Options,
  { restored, since, repair }: CheckOptions,
): AsyncGenerator<CheckPage> {
  if (since === undefined || !restored.includes('gateway')) return
  // Events of an organization are in one partition, in their order: a deletion is never before what it deletes.
  const gone = new Set<string>()
  const lost = new Map<string, Creation>()
  for (let after: string | undefined, last = false; !last; ) {
    const { records, next } = await recordedSince(kafka, [topic], { since, after })
    const events = records.map((record) => decodeTenancy(readEnvelope(record)))
    const known = await knownAmong(db, events)
    const findings: Finding[] = []
    for (const event of events) {
      const ended = endedBy(event)
      if (ended !== undefined) {
        gone.add(ended)
        lost.delete(ended)
        if (known.get(ended) === true) findings.push(await endAgain(restoring, event, ended, repair))
        known.set(ended, false)
      }
      if (!isCreation(event)) continue
      const created = createdBy(event)
      if (!known.has(created) && !gone.has(created)) lost.set(created, event)
    }
    yield { examined: records.length, findings }
    after = next
    last = next === undefined
  }
  yield* lostCreations(restoring, lost, repair)
}

/** Those of what the events are about that the gateway has, and whether their deletion has not begun. */
async function knownAmong(db: Db, events: readonly TenancyEvent[]): Promise<Map<string, boolean>> {
  const ids = events.flatMap((event) => endedBy(event) ?? (isCreation(event) ? createdBy(event) : []))
  const rows = ids.length > 0 ? await db.query(KNOWN, ids) : []
  return new Map(rows.map(({ id, live }) => [id, live]))
}

/** Only what the gateway does not have is remembered until here: a later event may have ended it. */
async function* lostCreations(
  restoring: Restoring,
  lost: ReadonlyMap<string, Creation>,
  repair: boolean,
): AsyncGenerator<CheckPage> {
  const findings: Finding[] = []
  for (const [id, event] of lost) {
    if (event.type === 'credential.changed') findings.push(lostKey(id))
    else findings.push(await createAgain(restoring, event.payload, repair))
  }
  yield { examined: lost.size, findings }
}

async function createAgain(
  restoring: Restoring,
  inbox: (TenancyEvent & { type: 'inbox.changed' })['payload'],
  repair: boolean,
): Promise<Finding> {
  const subject = `inbox ${inbox.inbox_uid} ${inbox.address}`
  const problem = 'it was created after the backup'
  if (!repair) return { subject, problem, state: 'open' }
  const obstacle = await restoring.createInbox(inbox)
  if (obstacle === undefined) return { subject, problem, state: 'repaired' }
  return { subject, problem, state: 'open', advice: `it cannot be created again: ${obstacle}` }
}

function lostKey(id: string): Finding {
  const advice = 'its secret is unknown: create another one, and tell its owner'
  return { subject: `key ${id}`, problem: 'it was created after the backup', state: 'open', advice }
}

async function endAgain(restoring: Restoring, event: TenancyEvent, id: string, repair: boolean): Promise<Finding> {
  if (repair) {
    if (event.type === 'credential.deleted') await restoring.revokeKey(id)
    else if (event.type === 'inbox.deleted') await restoring.deleteInbox(id, event.payload.organization_id)
    else await restoring.deleteOrganization(id)
  }
  const [kind] = event.type.split('.')
  const problem = 'it was deleted after the backup, and exists again'
  return { subject: `${kind} ${id}`, problem, state: repair ? 'repaired' : 'open' }
}

function endedBy(event: TenancyEvent): string | undefined {
  switch (event.type) {
    case 'credential.deleted':
      return event.payload.credential_id
    case 'inbox.deleted':
      return event.payload.inbox_uid
    case 'organization.deleted':
      return event.payload.organization_id
    default:
      return undefined
  }
}

function isCreation(event: TenancyEvent): event is Creation {
  return event.type === 'inbox.changed' || event.type === 'credential.changed'
}

function createdBy(event: Creation): string {
  return event.type === 'inbox.changed' ? event.payload.inbox_uid : event.payload.credential_id
}

function decodeTenancy(recorded: Parameters<typeof decodeEvent>[1]) {
  return decodeEvent(topic, recorded)
}
