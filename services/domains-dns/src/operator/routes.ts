import type { OperatorDomain, ShownDomain } from '@restante/contracts/internal'
import type { Schedule } from '@restante/jobs'
import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { type CheckTimers, scheduleCheck } from '../checks/timers.ts'
import { asciiName } from '../names/ascii.ts'
import { domainDocument } from '../registrations/document.ts'
import { findEverywhere } from '../registrations/find.ts'
import { type DomainRow, findByUid } from '../registrations/store.ts'
import { type ApplyOptions, applyChanges } from '../status/apply-changes.ts'
import { lockForChange } from '../status/store.ts'
import { listEverything, nextChecks, publishedKeys } from './store.ts'

export interface OperatorRouteOptions extends ApplyOptions {
  readonly db: Database
  readonly timers: Schedule<CheckTimers>
  readonly log: Logger
}

type Internal = Pick<
  InternalHandlers<'domains-dns'>,
  'domains-dns.listAll' | 'domains-dns.showAll' | 'domains-dns.setBarred' | 'domains-dns.checkNow'
>

/** Domains of all organizations, for the operator's command line. */
export function operatorRoutes(deps: OperatorRouteOptions): Internal {
  const { db, timers, log } = deps
  return {
    'domains-dns.listAll': async ({ body }) => ({ domains: (await listEverything(db, body)).map(operatorDomain) }),

    'domains-dns.showAll': async ({ body: { domain, organization_id: of } }) => {
      const rows = await findEverywhere(db, [asciiName(domain) ?? domain])
      return { domains: await shown(deps, of === undefined ? rows : rows.filter((row) => row.organization_id === of)) }
    },

    'domains-dns.setBarred': async ({ body: { domain_uid: uid, barred, operator } }) => {
      const changed = await db.transaction(async (tx) => {
        const row = await lockForChange(tx, uid)
        if (!row) return undefined
        if ((row.barred_at !== null) === barred) return false
        const now = new Date()
        await applyChanges(tx, deps, row, barred ? { barred_at: now } : { barred_at: null, scheduled_from: now }, now)
        // Its checks may have ended while it was barred, and what they found be old.
        if (!barred) await scheduleCheck(tx, timers, uid)
        return true
      })
      if (changed)
        log.info({ domainUid: uid, operator }, barred ? 'domain barred from sending' : 'bar of domain lifted')
      return { changed }
    },

    'domains-dns.checkNow': async ({ body: { domain_uid: uid, operator } }) => {
      const queued = await db.transaction(async (tx) => {
        const row = await findByUid(tx, uid)
        if (row) await scheduleCheck(tx, timers, uid)
        return row !== undefined
      })
      if (queued) log.info({ domainUid: uid, operator }, 'check of domain requested by operator')
      return { queued }
    },
  }
}

function operatorDomain(row: DomainRow): OperatorDomain {
  return {
    domain_uid: row.uid,
    organization_id: row.organization_id,
    ...(row.pod_id !== null && { pod_id: row.pod_id }),
    domain: row.name,
    status: row.status,
    ...(row.reason !== null && { reason: row.reason }),
    sending_ready: row.sending_ready,
    ...(row.last_verified_at !== null && { verified_at: row.last_verified_at.toISOString() }),
    ...(row.lost_at !== null && { lost_at: row.lost_at.toISOString() }),
    ...(row.barred_at !== null && { barred_at: row.barred_at.toISOString() }),
    ...(row.checked_at !== null && { checked_at: row.checked_at.toISOString() }),
    created_at: row.created_at.toISOString(),
  }
}

async function shown({ db, installation }: OperatorRouteOptions, rows: readonly DomainRow[]): Promise<ShownDomain[]> {
  const uids = rows.map(({ uid }) => uid)
  const [due, keys] = await Promise.all([nextChecks(db, uids), publishedKeys(db, uids)])
  return rows.flatMap((row) => {
    const [nextCheck, key] = [due.get(row.uid), keys.get(row.uid)]
    // It was deleted since it was read.
    if (key === undefined) return []
    return {
      ...operatorDomain(row),
      checks: row.checks,
      ...(nextCheck !== undefined && { next_check_at: nextCheck.toISOString() }),
      records: domainDocument(row, key, installation).records,
    }
  })
}
