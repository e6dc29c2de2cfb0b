import { backoff } from '@restante/service/concurrency'
import { sql } from '@restante/service/database'
import type { Actor } from '../audit/actor.ts'
import { organizationFacts, recordAudit } from '../audit/log.ts'
import type { Organization } from '../generated/prisma/client.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { GatewayTimers } from '../storage/timers.ts'
import { organizationDeleted, podDeleted } from '../tenancy/events.ts'
import { deleteInbox, type InboxDeletion } from './delete-inbox.ts'
import { deletePod } from './delete-pod.ts'

/** Rows per transaction; it locks the organization, for which no other request waits any more. */
const BATCH = 100
/**
 * Inboxes of one organization that the other services may be purging concurrently: all of them at once would hold up
 * other tenants' purges, and the gateway's status requests.
 */
const PURGING_AT_ONCE = 500
/** Poll interval for the purge by the other services. */
const PURGE_CHECK_MS = 500
const RETRY = { firstMs: 2_000, longestMs: 60_000 }
const DELETION: Actor = { kind: 'system', id: 'organization deletion' }

export interface OrganizationDeletion extends InboxDeletion {
  readonly db: Db
}

/** Result of a step: continue at once, wait for the other services, or nothing is left. */
type Step = 'more' | 'waiting' | 'done'

/**
 * Deletes the contents of organizations whose deletion has begun: inboxes, pods, the organization, each with its event,
 * in batches of one transaction. Every step checks what is left, so it may be repeated by any process, wherever the
 * last one stopped.
 */
export function deleteOrganizations(timers: GatewayTimers, deps: OrganizationDeletion): void {
  const retry = (attempt: number): Date => new Date(Date.now() + backoff(attempt, RETRY))
  const options = { concurrency: 2, attemptMs: 60_000, retry }
  timers.work('organization-deletion', options, async ({ timer, run, postpone }) => {
    await run(async (tx) => {
      const step = await takeApart(deps.db.withOrm(tx), deps, timer.key, new Date())
      if (step === 'done') return
      await postpone(tx, new Date(Date.now() + (step === 'more' ? 0 : PURGE_CHECK_MS)))
    })
  })
}

const LOCK = sql<{ id: string }, [id: string]>(
  'select id from organizations where id = $1 and deleting_at is not null for update',
)
const LIVE_INBOXES = sql<{ uid: string }, [organizationId: string, limit: number]>(`
select uid from inboxes where organization_id = $1 and deleted_at is null order by uid limit $2 for update`)
const LIVE_PODS = sql<{ id: string }, [organizationId: string, limit: number]>(`
select id from pods
 where organization_id = $1 and deleted_at is null and id <> organization_id order by id limit $2 for update`)
/** See the partial index `inboxes_unpurged`. */
const UNPURGED = sql<{ count: number }, [organizationId: string, most: number]>(`
select count(*)::int as count
  from (select from inboxes where organization_id = $1 and deleted_at is not null limit $2) as unpurged`)

async function takeApart(tx: Tx, deps: InboxDeletion, id: string, now: Date): Promise<Step> {
  const [held] = await tx.query(LOCK, id)
  if (held === undefined) return 'done'
  const orm = await tx.orm()

  const [{ count: purging } = { count: 0 }] = await tx.query(UNPURGED, id, PURGING_AT_ONCE)
  if (purging >= PURGING_AT_ONCE) return 'waiting'

  const inboxes = (await tx.query(LIVE_INBOXES, id, BATCH)).map(({ uid }) => uid)
  for (const row of await orm.inbox.findMany({ where: { uid: { in: inboxes } } })) {
    await deleteInbox(tx, deps, row, DELETION, now)
  }
  if (inboxes.length > 0) return 'more'

  const pods = (await tx.query(LIVE_PODS, id, BATCH)).map((pod) => pod.id)
  for (const row of await orm.pod.findMany({ where: { id: { in: pods } } })) {
    // Its domains are deleted by their owner, once it learns of the deletion.
    await deletePod(tx, deps.events, { row, domains: 0 }, DELETION, now)
  }
  if (pods.length > 0) return 'more'

  if (purging > 0) return 'waiting'
  await finish(tx, deps, await orm.organization.findUniqueOrThrow({ where: { id } }), now)
  return 'done'
}

/** The default pod is deleted with its organization, and only then. */
async function finish(tx: Tx, { events }: InboxDeletion, organization: Organization, now: Date): Promise<void> {
  const { id } = organization
  const orm = await tx.orm()
  const defaultPod = await orm.pod.findUniqueOrThrow({ where: { id } })
  await orm.pod.deleteMany({ where: { organizationId: id } })
  await orm.countedSignInKey.deleteMany({ where: { organizationId: id } })
  await orm.signInKeyRevocation.deleteMany({ where: { organizationId: id } })
  await orm.organization.delete({ where: { id } })
  await events.record(tx, podDeleted(defaultPod, now), organizationDeleted(organization, now))
  const details = { before: organizationFacts(organization) }
  await recordAudit(tx, DELETION, now, { action: 'organization.deleted', organizationId: id, details })
}
