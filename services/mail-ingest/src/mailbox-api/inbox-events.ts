import { type Caller, visibleLabels } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import { RESTRICTED_LABELS } from '@restante/contracts/vocabulary'
import { type Database, sql } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'

interface EventRow {
  readonly id: string
  readonly organization_id: string
  readonly pod_id: string
  readonly message_id: string
  readonly type: 'label.added' | 'label.removed'
  readonly label: string
  readonly event_at: Date
  readonly created_at: Date
}

type Values = [inboxUid: string, after: string, rows: number, hidden: readonly string[]]

// Changes of a message that a key may not see are hidden; so are those of a deleted message from a key that may not see
// everything, because nothing tells any more whether it was allowed to see that one.
const select = (bound: '<' | '>', order: 'asc' | 'desc') =>
  sql<EventRow, Values>(`
select id, organization_id, pod_id, message_id, type, label, event_at, created_at
  from label_log
 where inbox_uid = $1 and id ${bound} $2::uuid
   and ($4::text[] = '{}' or exists (
         select from messages
          where messages.inbox_uid = label_log.inbox_uid and messages.message_id = label_log.message_id
            and not (messages.labels && $4::text[])))
 order by id ${order} limit $3`)

/** By direction: the statement, and the bound of the first page. */
const PAGES = {
  asc: { statement: select('>', 'asc'), from: '00000000-0000-0000-0000-000000000000' },
  desc: { statement: select('<', 'desc'), from: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
} as const

/** Lists the label changes of an inbox's messages, newest first (mail 18). */
export async function listInboxEvents(
  deps: { db: Database; cursors: Cursors },
  caller: Caller,
  query: RequestOf<'inboxEvents.list'>['query'],
): Promise<ResponseOf<'inboxEvents.list'>> {
  const { uid, address } = requireInbox(caller)
  const page = new KeysetPage(deps.cursors, { operation: 'inboxEvents.list', within: uid, query })
  const visible = new Set(visibleLabels(caller.credential))
  const hidden = RESTRICTED_LABELS.filter((label) => !visible.has(label))
  const { statement, from } = PAGES[page.order]
  const rows = await deps.db.query(statement, uid, page.after?.id ?? from, page.take, hidden)
  const { items, members } = page.answer(
    rows,
    ({ id, event_at }) => ({ time: event_at, id }),
    (row) => ({
      organization_id: row.organization_id,
      pod_id: row.pod_id,
      inbox_id: address,
      event_id: row.id,
      event_type: row.type,
      message_id: row.message_id,
      label: row.label,
      event_at: row.event_at.toISOString(),
      created_at: row.created_at.toISOString(),
    }),
  )
  return { ...members, events: items }
}
