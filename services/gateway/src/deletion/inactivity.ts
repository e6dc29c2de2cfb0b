import { type Queryable, sql } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import type { Actor } from '../audit/actor.ts'
import { lockOrganization } from '../organizations/store.ts'
import { type Db, sharedTime } from '../storage/database.ts'
import type { GatewayTimers } from '../storage/timers.ts'
import { beginDeletion, type DeletionBeginning } from './begin-deletion.ts'

export interface InactivityOptions extends DeletionBeginning {
  readonly db: Db
  readonly log: Logger
  /** Time without activity in an organization, in milliseconds. */
  readonly inactiveMs: number
  readonly mailIngest: ServiceClient<'gateway'>
}

const EVERY_MS = 86_400_000
const RETRY_MS = 3_600_000
const ATTEMPT_MS = 600_000
const PAGE = 200
const INACTIVITY: Actor = { kind: 'system', id: 'inactivity' }

/**
 * Deletes organizations that signed up, were never verified, and are inactive (identity 5.4): no key of theirs was
 * created or used, no mail arrived, and they were not changed. While the mailbox service is down, none is deleted.
 */
export function deleteInactive(timers: GatewayTimers, deps: InactivityOptions): void {
  const retry = (): Date => new Date(Date.now() + RETRY_MS)
  const options = { concurrency: 1, attemptMs: ATTEMPT_MS, retry }
  timers.work('inactive-organizations', options, async ({ signal, run, postpone }) => {
    const now = await sharedTime(deps.db)
    const since = new Date(now.getTime() - deps.inactiveMs)
    let after: string | null = null
    for (;;) {
      const page: string[] = await findIdle(deps.db, since, after, PAGE)
      const active = new Set(await receivedSince(deps.mailIngest, page, since))
      for (const id of page.filter((each) => !active.has(each))) {
        signal.throwIfAborted()
        if (await deleteIdle(deps, id, since)) deps.log.info({ organization_id: id }, 'inactive organization deleted')
      }
      after = page.at(-1) ?? null
      if (page.length < PAGE) break
    }
    await run((tx) => postpone(tx, new Date(now.getTime() + EVERY_MS)))
  })
}

const IDLE = `
select o.id from organizations o
 where o.authentication_type = 'agent_unverified' and o.deleting_at is null and o.updated_at < $1::timestamptz
   and not exists (select from credentials c
                    where c.organization_id = o.id and greatest(c.created_at, c.used_at) >= $1::timestamptz)`

const FIND_IDLE = sql<{ id: string }, [since: string, after: string | null, limit: number]>(
  `${IDLE} and ($2::uuid is null or o.id > $2) order by o.id limit $3`,
)
const IS_IDLE = sql<{ id: string }, [since: string, id: string]>(`${IDLE} and o.id = $2`)

async function findIdle(db: Queryable, since: Date, after: string | null, limit: number): Promise<string[]> {
  return (await db.query(FIND_IDLE, since.toISOString(), after, limit)).map(({ id }) => id)
}

async function receivedSince(mailIngest: ServiceClient<'gateway'>, ids: string[], since: Date): Promise<string[]> {
  if (ids.length === 0) return []
  const question = { organization_ids: ids, since: since.toISOString() }
  return (await mailIngest.call('mail-ingest.receivedSince', question)).organization_ids
}

/** @returns whether it was still inactive when it was locked. */
function deleteIdle(deps: InactivityOptions, id: string, since: Date): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const organization = await lockOrganization(tx, id)
    if (organization === undefined) return false
    if ((await tx.query(IS_IDLE, since.toISOString(), id)).length === 0) return false
    await beginDeletion(tx, deps, organization, INACTIVITY, new Date())
    return true
  })
}
