import { topics } from '@restante/contracts/events'
import type { CheckPage, Finding } from '@restante/contracts/internal'
import { decodeEvent, type Kafka, readEnvelope, recordedSince } from '@restante/messaging'
import { sql } from '@restante/service/database'
import type { Db } from '../../storage/database.ts'
import type { CheckOptions } from './request.ts'
import type { Restoring } from './restoring.ts'

const topic = topics.tenancy
type TenancyEvent = ReturnType<typeof decodeTenancy>

const EXISTING = sql<{ id: string }, [ids: readonly string[]]>(`
select uid as id from inboxes where uid = any($1::uuid[]) and deleted_at is null
 union all
select id from organizations where id = any($1::uuid[]) and deleting_at is null
 union all
select id from credentials where id = any($1::uuid[])`)
const DELETED = sql<{ id: string }, [ids: readonly string[]]>(
  'select uid as id from inboxes where uid = any($1::uuid[]) and deleted_at is not null',
)

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
  const created = new Map<string, TenancyEvent & { type: 'inbox.changed' }>()
  const keys = new Set<string>()
  for (let after: string | undefined, last = false; !last; ) {
    const { records, next } = await recordedSince(kafka, [topic], { since, after })
    const findings: Finding[] = []
    for (const event of records.map((record) => decodeTenancy(readEnvelope(record)))) {
      const ended = endedBy(event)
      if (ended !== undefined) gone.add(ended)
      if (event.type === 'inbox.changed') created.set(event.payload.inbox_uid, event)
      if (event.type === 'credential.changed') keys.add(event.payload.credential_id)
      const finding = ended === undefined ? undefined : await endAgain(db, restoring, event, ended, repair)
      if (finding) findings.push(finding)
    }
    yield { examined: records.length, findings }
    after = next
    last = next === undefined
  }
  yield* lostCreations({ db, restoring }, { gone, created, keys }, repair)
}

interface Seen {
  readonly gone: ReadonlySet<string>
  readonly created: ReadonlyMap<string, TenancyEvent & { type: 'inbox.changed' }>
  readonly keys: ReadonlySet<string>
}

/** What the events of one backup's age have created is few enough to be remembered. */
async function* lostCreations(
  { db, restoring }: Pick<Options, 'db' | 'restoring'>,
  { gone, created, keys }: Seen,
  repair: boolean,
): AsyncGenerator<CheckPage> {
  const ids = [...created.keys(), ...keys].filter((id) => !gone.has(id))
  const known = new Set([...(await db.query(EXISTING, ids)), ...(await db.query(DELETED, ids))].map(({ id }) => id))
  const findings: Finding[] = []
  for (const id of ids.filter((one) => !known.has(one))) {
    const inbox = created.get(id)?.payload
    if (inbox === undefined) findings.push(lostKey(id))
    else findings.push(await createAgain(restoring, inbox, repair))
  }
  yield { examined: ids.length, findings }
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

/** @returns undefined when the gateway knows that it ended. */
async function endAgain(
  db: Db,
  restoring: Restoring,
  event: TenancyEvent,
  id: string,
  repair: boolean,
): Promise<Finding | undefined> {
  if ((await db.query(EXISTING, [id])).length === 0) return undefined
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

function decodeTenancy(recorded: Parameters<typeof decodeEvent>[1]) {
  return decodeEvent(topic, recorded)
}
