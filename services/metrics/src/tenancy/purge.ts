import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { PurgeInBatches } from '@restante/tenancy'
import { type EntityKind, recordEntities } from '../counting/entities.ts'
import { addAdjustments, addPoints } from '../series/add.ts'
import { deleteScope, excludeSettling, usageOf } from '../series/delete.ts'
import type { Point, Scope } from '../series/series.ts'

/** Runs deleted in one transaction. */
const BATCH = 1_000
/** Scopes of an organization whose rows are deleted in one transaction. */
const SCOPES = 50

const DELETION = sql<
  { organization_id: string; pod_id: string | null; deleted_at: Date },
  [id: string, kind: EntityKind]
>(`
select t.organization_id, e.pod_id, t.deleted_at
  from deleted_scopes as t left join entities as e on e.id = t.id and e.kind = t.kind
 where t.id = $1 and t.kind = $2`)
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
  await addPoints(tx, [...gone, ...withdrawn])
  await addAdjustments(tx, withdrawn)
  if ((await deleteScope(tx, scope, BATCH)) === 'more') return 'more'
  await tx.query(PURGED, scope.id, scope.tier)
  return 'ended'
}

/** Points that take what is stored in an inbox out of the totals of its pod and its organization. */
async function withdrawals(
  on: Queryable,
  scope: Scope,
  { organizationId, podId, at }: { organizationId: string; podId: string | undefined; at: Date },
): Promise<Point[]> {
  if (scope.tier !== 'inbox') return []
  const above: Scope[] = [{ tier: 'organization', id: organizationId }]
  if (podId !== undefined) above.push({ tier: 'pod', id: podId })
  const totals = await usageOf(on, scope)
  return above.flatMap((wider) =>
    [...totals].map(([series, total]): Point => ({ scope: wider, series, at: at.getTime(), value: -total })),
  )
}
