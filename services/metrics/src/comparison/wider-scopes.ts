import { type Queryable, sql } from '@restante/service/database'
import { codeOf, type Scope } from '../series/series.ts'
import type { Comparing } from './comparing.ts'
import { correctTotals } from './correct.ts'
import { STORED } from './differences.ts'

/** Organizations whose totals one statement adds up. */
const PAGE = 50
const NIL = '00000000-0000-0000-0000-000000000000'

const ORGANIZATIONS = sql<{ id: string }, [after: string, limit: number]>(`
select distinct organization_id as id from entities where organization_id > $1::uuid order by id limit $2`)
const DIFFERENCES = sql<
  { tier: number; id: string; series: number; difference: number },
  [organizationIds: readonly string[], series: readonly number[]]
>(`
with members as (
  select id, kind, organization_id, pod_id from entities where organization_id = any($1::uuid[]) and kind in ('pod', 'inbox')),
scopes as (
  select 1 as tier, unnest($1::uuid[]) as id
  union select 2, id from members where kind = 'pod'
  union select 2, pod_id from members where pod_id is not null
  union select 3, id from members where kind = 'inbox'),
stored as (
  select s.tier, s.id, t.series, t.total from scopes as s join totals as t on (t.scope_id, t.tier) = (s.id, s.tier)
   where t.series = any($2::smallint[])
  union all
  select s.tier, s.id, a.series, coalesce(a.sums[cardinality(a.sums)], cardinality(a.times))
    from scopes as s join arrivals as a on (a.scope_id, a.tier) = (s.id, s.tier)
   where a.series = any($2::smallint[])),
below as (
  select m.organization_id, m.pod_id, t.series, t.total
    from stored as t join members as m on m.id = t.id and m.kind = 'inbox' where t.tier = 3)
select tier, id, series, sum(value)::float8 as difference
  from (select 1 as tier, organization_id as id, series, total as value from below
        union all select 2, pod_id, series, total from below where pod_id is not null
        union all select tier, id, series, -total from stored where tier < 3) as parts
 group by tier, id, series having sum(value) <> 0
 order by tier, id, series`)

/**
 * Compares what is stored in organizations and pods with what is stored in their inboxes. Every transaction changes both, so
 * that in one snapshot each difference is an error.
 */
export async function compareWiderScopes(comparing: Comparing): Promise<void> {
  const { db, lease } = comparing
  for (let after: string | undefined = NIL; after !== undefined; ) {
    const organizations: { readonly id: string }[] = await db.query(ORGANIZATIONS, after, PAGE)
    lease.stopping.throwIfAborted()
    const ids = organizations.map(({ id }) => id)
    for (const { tier, id, series, difference } of await differencesAbove(db, ids)) {
      const scope: Scope = { tier: tier === 1 ? 'organization' : 'pod', id }
      const name = STORED.find((known) => codeOf(known) === series)
      if (name === undefined) continue
      await correctTotals(comparing, { scopes: [scope], amounts: [{ series: name, value: difference }] })
    }
    after = organizations.length === PAGE ? ids.at(-1) : undefined
  }
}

function differencesAbove(on: Queryable, ids: readonly string[]) {
  return ids.length === 0 ? Promise.resolve([]) : on.query(DIFFERENCES, ids, STORED.map(codeOf))
}
