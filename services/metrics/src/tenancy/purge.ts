import { LIMITS, USAGE_TYPES } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import { holdAmong, type PurgeInBatches } from '@restante/tenancy'
import { type EntityKind, recordEntities } from '../counting/entities.ts'
import { addAdjustments, addPoints } from '../series/add.ts'
import { deleteScope, excludeSettling } from '../series/delete.ts'
import { periodSums, totalsBefore } from '../series/read.ts'
import type { Point, Scope } from '../series/series.ts'

/** Runs deleted in one transaction. */
const BATCH = 1_000
/** Scopes of an organization whose rows are deleted in one transaction. */
const SCOPES = 50
/** How long after a deletion events of its inbox may happen, in milliseconds. */
const LATEST = LIMITS.retention.tombstone

const DELETION = sql<
  { organization_id: string; pod_id: string | null; deleted_at: Date },
  [id: string, kind: EntityKind]
>(`
select t.organization_id, coalesce(t.pod_id, e.pod_id) as pod_id, t.deleted_at
  from deleted_scopes as t left join entities as e on e.id = t.id and e.kind = t.kind
 where t.id = $1 and t.kind = $2`)
const HAS_TOTALS = sql<{ stored: boolean }, [inboxUid: string]>(`
select exists (select from totals where scope_id = $1 and tier = 3)
    or exists (select from arrivals where scope_id = $1 and tier = 3) as stored`)
const PURGED = sql<never, [id: string, kind: EntityKind]>(
  'update entities set purged = true where id = $1 and kind = $2',
)
const OF_ORGANIZATION = sql<{ id: string; kind: 'pod' | 'inbox' }, [organizationId: string, limit: number]>(`
select id, kind from entities where organization_id = $1 and kind in ('pod', 'inbox') limit $2`)
const FORGET = sql<never, [id: string, kind: string]>('delete from entities where id = $1 and kind = $2')
const FORGET_DOMAINS = sql<{ id: string }, [organizationId: string, limit: number]>(`
delete from entities where id in (select id from entities where organization_id = $1 and kind = 'domain' limit $2)
   and kind = 'domain' returning id`)

/**
 * Deletes what is counted for a deleted scope. What happened stays counted above it (identity 9.1); what was stored in it
 * leaves the totals above at the moment of the deletion, in the transaction that deletes its own.
 */
export const purge: PurgeInBatches = {
  inbox: (tx, id) => purgeBelow(tx, { tier: 'inbox', id }),
  pod: (tx, id) => purgeBelow(tx, { tier: 'pod', id }),
  organization: async (tx, organizationId) => {
    await excludeSettling(tx)
    const scopes = await tx.query(OF_ORGANIZATION, organizationId, SCOPES)
    for (const { id, kind } of scopes) {
      if ((await deleteScope(tx, { tier: kind, id }, BATCH)) === 'more') return 'more'
      await tx.query(FORGET, id, kind)
    }
    const domains = await tx.query(FORGET_DOMAINS, organizationId, BATCH)
    if (scopes.length === SCOPES || domains.length === BATCH) return 'more'
    return (await deleteScope(tx, { tier: 'organization', id: organizationId }, BATCH)) === 'more' ? 'more' : 'ended'
  },
}

async function purgeBelow(tx: Tx, scope: Scope & { readonly tier: 'pod' | 'inbox' }): Promise<'more' | 'ended'> {
  await excludeSettling(tx)
  const [deletion] = await tx.query(DELETION, scope.id, scope.tier)
  if (deletion === undefined) return 'ended'
  const { organization_id: organizationId, pod_id, deleted_at: at } = deletion
  const podId = pod_id ?? undefined
  const gone = await recordEntities(tx, 'deleted', [{ kind: scope.tier, id: scope.id, organizationId, podId, at }])
  const withdrawn = await withdrawals(tx, scope, { organizationId, podId, at })
  // What is above it may be deleted too, and purged already.
  const deleted = await holdAmong(tx, podId === undefined ? [organizationId] : [organizationId, podId])
  const liveOf = (points: readonly Point[]) =>
    points.filter(({ scope: above }) => !deleted.has(organizationId) && !deleted.has(above.id))
  await addPoints(tx, liveOf([...gone, ...withdrawn]))
  await addAdjustments(tx, liveOf(withdrawn))
  if ((await deleteScope(tx, scope, BATCH)) === 'more') return 'more'
  await tx.query(PURGED, scope.id, scope.tier)
  return 'ended'
}

/**
 * Points that take what is stored in an inbox out of the totals of its pod and its organization: all of it at the deletion,
 * and what happened later at its own time, as if it had become known after the deletion.
 */
async function withdrawals(
  on: Queryable,
  scope: Scope,
  { organizationId, podId, at }: { organizationId: string; podId: string | undefined; at: Date },
): Promise<Point[]> {
  if (scope.tier !== 'inbox') return []
  // The first batch withdraws everything, and deletes the totals. Runs may be left for the next ones, and are withdrawn already.
  if (!(await on.query(HAS_TOTALS, scope.id))[0]?.stored) return []
  const above: Scope[] = [{ tier: 'organization', id: organizationId }]
  if (podId !== undefined) above.push({ tier: 'pod', id: podId })
  const from = at.getTime() + 1
  const totals = await totalsBefore(on, scope, USAGE_TYPES.inbox, from)
  const later = await periodSums(on, scope, USAGE_TYPES.inbox, { from, to: from + LATEST, period: 1 })
  const changes = [
    ...[...totals].map(([series, sum]) => ({ series, at: from - 1, sum })),
    ...[...later].flatMap(([series, sums]) => sums.map(({ index, sum }) => ({ series, at: from + index, sum }))),
  ]
  return above.flatMap((wider) =>
    changes.map(({ series, at: time, sum }): Point => ({ scope: wider, series, at: time, value: -sum })),
  )
}
