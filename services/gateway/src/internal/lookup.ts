import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { isUuid } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'

interface FoundInbox {
  readonly uid: string
  readonly pod_id: string
  readonly address: string
  readonly client_id: string | null
}

const INBOXES = sql<
  FoundInbox,
  [organizationId: string, podId: string | null, uid: string | null, names: string[], uids: string[]]
>(`
select uid, pod_id, address, client_id from inboxes
 where organization_id = $1 and deleted_at is null
   and ($2::uuid is null or pod_id = $2) and ($3::uuid is null or uid = $3)
   and (address = any($4::text[]) or client_id = any($4::text[]) or uid = any($5::uuid[]))`)

interface FoundPod {
  readonly id: string
  readonly client_id: string | null
}

const PODS = sql<FoundPod, [organizationId: string, podId: string | null, names: string[], ids: string[]]>(`
select id, client_id from pods
 where organization_id = $1 and deleted_at is null and ($2::uuid is null or id = $2)
   and (client_id = any($3::text[]) or id = any($4::uuid[]))`)

type Request = InternalRequestOf<'gateway.lookupInboxes'>
type Response = InternalResponseOf<'gateway.lookupInboxes'>

/** Live inboxes and pods by any of their names, within a scope; missing or invisible ones are left out. */
export async function lookUp(db: Queryable, request: Request): Promise<Response> {
  const [inboxes, pods] = await Promise.all([findInboxes(db, request), findPods(db, request)])
  return { inboxes, pods }
}

async function findInboxes(db: Queryable, request: Request): Promise<Response['inboxes']> {
  if (request.inboxes.length === 0) return []
  const names = request.inboxes.map(fold).filter(canBeName)
  const rows = await db.query(
    INBOXES,
    request.organization_id,
    request.pod_id ?? null,
    request.inbox_uid ?? null,
    names,
    names.filter(isUuid),
  )
  return request.inboxes.flatMap((given) => {
    const name = fold(given)
    const row =
      rows.find(({ uid, address }) => uid === name.toLowerCase() || address === name) ??
      rows.find(({ client_id }) => client_id === name)
    return row === undefined ? [] : [{ given, inbox_uid: row.uid, pod_id: row.pod_id, address: row.address }]
  })
}

async function findPods(db: Queryable, request: Request): Promise<Response['pods']> {
  // An inbox contains no pods: a caller restricted to one sees none.
  if (request.pods.length === 0 || request.inbox_uid !== undefined) return []
  const rows = await db.query(
    PODS,
    request.organization_id,
    request.pod_id ?? null,
    request.pods.filter(canBeName),
    request.pods.filter(isUuid),
  )
  return request.pods.flatMap((given) => {
    const row = rows.find(({ id }) => id === given.toLowerCase()) ?? rows.find(({ client_id }) => client_id === given)
    return row === undefined ? [] : [{ given, pod_id: row.id }]
  })
}

/** No name contains a NUL, and PostgreSQL does not accept one. */
function canBeName(name: string): boolean {
  return !name.includes('\u0000')
}

/** Addresses compare without case, aliases with it. */
function fold(name: string): string {
  return name.includes('@') ? name.toLowerCase() : name
}
