import type { InternalRequestOf, InternalResponseOf, ListedInbox, PurgingService } from '@restante/contracts/internal'
import { isUuid } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import { invalid } from '@restante/service/errors'
import { deletedAmong } from './tombstones.ts'

/** An inbox of which a service has data, as its tables describe it. */
export interface HeldInbox {
  readonly inbox_uid: string
  readonly organization_id: string
  readonly pod_id: string | null
  readonly address: string | null
}

const FIRST = '00000000-0000-0000-0000-000000000000'

const DELETED = sql<HeldInbox, [after: string, rows: number]>(`
select id as inbox_uid, organization_id, pod_id, address
  from deleted_scopes
 where kind = 'inbox' and id > $1
 order by id
 limit $2`)

/**
 * Handles `<service>.listInboxes`.
 * @param held the inboxes of which the service has data, by uid, after a uid. Those that are being purged are left out.
 */
export function listInboxes(db: Queryable, held: (after: string, rows: number) => Promise<readonly HeldInbox[]>) {
  return async ({
    body,
  }: {
    readonly body: InternalRequestOf<`${PurgingService}.listInboxes`>
  }): Promise<InternalResponseOf<`${PurgingService}.listInboxes`>> => {
    const { state, after = FIRST, limit } = body
    if (!isUuid(after)) throw invalid(['after'], 'Not a position of this list')
    const rows = state === 'held' ? await held(after, limit) : await db.query(DELETED, after, limit)
    const last = rows.at(-1)
    const purging = state === 'held' ? await deletedAmong(db, rows.map(uidOf)) : new Set()
    const listed = rows.filter((row) => !purging.has(uidOf(row)))
    return { inboxes: listed.map(document), ...(last && rows.length === limit && { next: last.inbox_uid }) }
  }
}

function uidOf({ inbox_uid }: HeldInbox): string {
  return inbox_uid
}

function document({ inbox_uid, organization_id, pod_id, address }: HeldInbox): ListedInbox {
  return {
    inbox_uid,
    organization_id,
    ...(pod_id !== null && { pod_id }),
    ...(address !== null && { address }),
  }
}
