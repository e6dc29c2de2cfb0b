import { sql } from '@restante/service/database'
import { countEntities, type Timed } from '../counting/consumers.ts'
import type { EntityKind } from '../counting/entities.ts'
import type { Point } from '../series/series.ts'
import { caughtUp } from './caught-up.ts'
import { type Comparing, PAGE_MS } from './comparing.ts'
import { drift } from './telemetry.ts'

const PAGE = 1_000
/** Differences that are kept in memory until the consumers have caught up. */
const TOGETHER = 20_000
/** An entity that is younger may have been created after the owner's page was read. */
const YOUNG_MS = 60_000
const NIL = '00000000-0000-0000-0000-000000000000'

interface Row {
  readonly id: string
  readonly organization_id: string
  readonly pod_id: string | null
}

const UNKNOWN = sql<{ id: string }, [ids: readonly string[], kind: EntityKind]>(`
select id from unnest($1::uuid[]) as given (id)
 where not exists (select from entities as e where e.id = given.id and e.kind = $2 and e.created_at is not null)`)
const LIVE = sql<
  Row,
  [kind: EntityKind, after: string, until: string | null, before: Date, ids: readonly string[], limit: number]
>(`
select id, organization_id, pod_id from entities as e
 where kind = $1 and id > $2::uuid and ($3::uuid is null or id <= $3::uuid) and created_at < $4 and deleted_at is null
   and not (id = any($5::uuid[])) and not exists (select from deleted_scopes as d where d.id = e.id and d.kind = e.kind)
 order by id limit $6`)
const STILL_LIVE = sql<{ id: string }, [kind: EntityKind, ids: readonly string[]]>(`
select id from entities as e where kind = $1 and id = any($2::uuid[]) and deleted_at is null
   and not exists (select from deleted_scopes as d where d.id = e.id and d.kind = e.kind) for update`)

/** The entities of one kind in a page of their owner, in the order of their ids, and when the page was asked for. */
interface OwnerPage {
  readonly kind: EntityKind
  readonly entities: readonly Timed[]
  readonly askedAt: number
}

/**
 * Compares pods, inboxes and domains with their owners: one that is missing here counts from its creation on, and one that
 * its owner no longer has until now.
 */
export async function compareEntities(comparing: Comparing): Promise<void> {
  await comparePages(comparing, tenancyPages(comparing), ['pod', 'inbox'])
  await comparePages(comparing, domainPages(comparing), ['domain'])
}

async function comparePages(
  comparing: Comparing,
  pages: AsyncGenerator<OwnerPage>,
  kinds: readonly EntityKind[],
): Promise<void> {
  const found: Differences = { missing: [], gone: [] }
  const last = new Map<EntityKind, string>()
  let askedAt = Date.now()
  for await (const page of pages) {
    comparing.lease.stopping.throwIfAborted()
    askedAt = page.askedAt
    const after = last.get(page.kind) ?? NIL
    const until = page.entities.reduce((previous, { id }) => inOrder(previous, id), after)
    last.set(page.kind, until)
    await addMissing(comparing, page, found)
    await addGone(comparing, { ...page, after, until }, found)
    if (found.missing.length + found.gone.length >= TOGETHER) await correct(comparing, found)
  }
  for (const kind of kinds) {
    const after = last.get(kind) ?? NIL
    await addGone(comparing, { kind, entities: [], askedAt, after, until: null }, found)
  }
  await correct(comparing, found)
}

interface Differences {
  missing: Timed[]
  gone: Timed[]
}

function inOrder(previous: string, id: string): string {
  if (id <= previous) throw new Error('an owner lists its entities in another order than that of their ids')
  return id
}

async function addMissing({ db }: Comparing, { kind, entities }: OwnerPage, found: Differences): Promise<void> {
  const rows = await db.query(
    UNKNOWN,
    entities.map(({ id }) => id),
    kind,
  )
  const unknown = new Set(rows.map(({ id }) => id))
  found.missing.push(...entities.filter(({ id }) => unknown.has(id)))
}

async function addGone(
  { db }: Comparing,
  { kind, entities, askedAt, after, until }: OwnerPage & { readonly after: string; readonly until: string | null },
  found: Differences,
): Promise<void> {
  const ids = entities.map(({ id }) => id)
  const before = new Date(askedAt - YOUNG_MS)
  for (let from: string | undefined = after; from !== undefined; ) {
    const rows: Row[] = await db.query(LIVE, kind, from, until, before, ids, PAGE)
    const at = new Date()
    for (const { id, organization_id: organizationId, pod_id } of rows)
      found.gone.push({ kind, id, organizationId, podId: pod_id ?? undefined, at })
    from = rows.length === PAGE ? rows.at(-1)?.id : undefined
  }
}

/** Corrects what is still different when every event that was on its way has been counted. */
async function correct(comparing: Comparing, found: Differences): Promise<void> {
  const { missing, gone } = found
  found.missing = []
  found.gone = []
  if (missing.length + gone.length === 0) return
  await caughtUp(comparing.kafka, comparing.consumers, comparing.lease.stopping)
  await inPages(missing, async (entities) => report(comparing, await correctPage(comparing, 'created', entities)))
  for (const [kind, ofKind] of Map.groupBy(gone, (entity) => entity.kind))
    await inPages(ofKind, async (entities) =>
      report(comparing, await correctPage(comparing, 'deleted', entities, kind)),
    )
}

function correctPage(
  { db, lease }: Comparing,
  what: 'created' | 'deleted',
  entities: readonly Timed[],
  kind?: EntityKind,
): Promise<readonly Point[]> {
  return db.transaction(async (tx) => {
    if (!(await lease.hold(tx))) return []
    if (kind === undefined) return countEntities(tx, what, entities)
    const rows = await tx.query(
      STILL_LIVE,
      kind,
      entities.map(({ id }) => id),
    )
    const live = new Set(rows.map(({ id }) => id))
    return countEntities(
      tx,
      what,
      entities.filter(({ id }) => live.has(id)),
    )
  })
}

function report({ log, comparison }: Comparing, points: readonly Point[]): void {
  for (const { scope, series, value } of points) {
    drift.inc({ series })
    log.warn({ comparison, scope: scope.id, tier: scope.tier, series, difference: value }, 'usage total corrected')
  }
}

async function inPages<T>(all: readonly T[], work: (page: readonly T[]) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += PAGE) await work(all.slice(from, from + PAGE))
}

async function* tenancyPages({ peers }: Comparing): AsyncGenerator<OwnerPage> {
  for (let after: string | undefined, more = true; more; ) {
    const askedAt = Date.now()
    const request = { limit: PAGE, ...(after !== undefined && { after }) }
    const page = await peers.gateway.call('gateway.snapshotTenancy', request, PAGE_MS)
    const entities = page.entities.flatMap((entity): Timed[] => {
      if (entity.type === 'pod.changed') {
        const { pod_id: id, organization_id: organizationId, created_at } = entity.payload
        return [{ kind: 'pod', id, organizationId, podId: undefined, at: new Date(created_at) }]
      }
      if (entity.type !== 'inbox.changed') return []
      const { inbox_uid: id, organization_id: organizationId, pod_id: podId, created_at } = entity.payload
      return [{ kind: 'inbox', id, organizationId, podId, at: new Date(created_at) }]
    })
    for (const [kind, of] of Map.groupBy(entities, (entity) => entity.kind)) yield { kind, entities: of, askedAt }
    after = page.next
    more = after !== undefined
  }
}

async function* domainPages({ peers }: Comparing): AsyncGenerator<OwnerPage> {
  for (let after: string | undefined, more = true; more; ) {
    const askedAt = Date.now()
    const request = { limit: PAGE, ...(after !== undefined && { after }) }
    const page = await peers.domainsDns.call('domains-dns.snapshotDomains', request, PAGE_MS)
    const entities = page.domains.map(
      ({ domain_uid: id, organization_id: organizationId, pod_id: podId, created_at }): Timed => {
        return { kind: 'domain', id, organizationId, podId, at: new Date(created_at) }
      },
    )
    yield { kind: 'domain', entities, askedAt }
    after = page.next
    more = after !== undefined
  }
}
