import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { Point, SeriesName } from '../series/series.ts'

/** What exists in an organization and is counted. The organization itself is not. */
export type EntityKind = 'pod' | 'inbox' | 'domain'

export interface Entity {
  readonly id: string
  readonly kind: EntityKind
  readonly organizationId: string
  readonly podId: string | undefined
}

interface Row {
  readonly id: string
  readonly kind: EntityKind
}

type Columns = [
  ids: readonly string[],
  kinds: readonly string[],
  organizationIds: readonly string[],
  podIds: readonly (string | null)[],
  times: readonly string[],
]

// In one order: two transactions that write the same rows never wait for each other in a circle.
const GIVEN = `select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::timestamptz[])
                       as given (id, kind, organization_id, pod_id, at) order by id, kind`
const CREATED = sql<Row, Columns>(`
insert into entities (id, kind, organization_id, pod_id, created_at) ${GIVEN}
on conflict (id, kind) do update
   set created_at = excluded.created_at, pod_id = coalesce(entities.pod_id, excluded.pod_id)
 where entities.created_at is null
returning id, kind`)
const DELETED = sql<Row, Columns>(`
insert into entities (id, kind, organization_id, pod_id, deleted_at) ${GIVEN}
on conflict (id, kind) do update
   set deleted_at = excluded.deleted_at, pod_id = coalesce(entities.pod_id, excluded.pod_id)
 where entities.deleted_at is null
returning id, kind`)

const SERIES = {
  pod: 'pod_count',
  inbox: 'inbox_count',
  domain: 'domain_count',
} as const satisfies Record<EntityKind, SeriesName>

const RECORD = { created: CREATED, deleted: DELETED }

/**
 * Records that entities were created or deleted. Each is counted once, whatever is repeated, and in whatever order creation and
 * deletion become known.
 * @returns the points of those that were not recorded before.
 */
export async function recordEntities(
  tx: Queryable,
  what: keyof typeof RECORD,
  entities: readonly (Entity & { readonly at: Date })[],
): Promise<Point[]> {
  if (entities.length === 0) return []
  const rows = await tx.query(
    RECORD[what],
    entities.map(({ id }) => id),
    entities.map(({ kind }) => kind),
    entities.map(({ organizationId }) => organizationId),
    entities.map(({ podId }) => podId ?? null),
    entities.map(({ at }) => at.toISOString()),
  )
  const recorded = new Set(rows.map(({ id, kind }) => `${kind} ${id}`))
  const value = what === 'created' ? 1 : -1
  return entities
    .filter(({ id, kind }) => recorded.has(`${kind} ${id}`))
    .flatMap((entity) => pointsOfEntity(entity, value))
}

/** An inbox and a domain are counted in their organization and their pod, a pod in its organization. */
function pointsOfEntity({ kind, organizationId, podId, at }: Entity & { readonly at: Date }, value: number): Point[] {
  const point = { series: SERIES[kind], at: at.getTime(), value }
  const ofOrganization: Point = { ...point, scope: { tier: 'organization', id: organizationId } }
  if (kind === 'pod' || podId === undefined) return [ofOrganization]
  return [ofOrganization, { ...point, scope: { tier: 'pod', id: podId } }]
}

const SEEN = sql<
  never,
  [
    ids: readonly string[],
    kinds: readonly string[],
    organizationIds: readonly string[],
    podIds: readonly (string | null)[],
  ]
>(`
insert into entities (id, kind, organization_id, pod_id)
select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[]) as given (id, kind, organization_id, pod_id)
 order by id, kind
on conflict do nothing`)

/** Remembers scopes and what they are in, so that deletions find what is counted for them. */
export async function rememberScopes(
  tx: Tx,
  scopes: readonly (Entity & { readonly kind: 'pod' | 'inbox' })[],
): Promise<void> {
  if (scopes.length === 0) return
  await tx.query(
    SEEN,
    scopes.map(({ id }) => id),
    scopes.map(({ kind }) => kind),
    scopes.map(({ organizationId }) => organizationId),
    scopes.map(({ podId }) => podId ?? null),
  )
}
