import type { Caller } from '@restante/contracts/access'
import type { ResponseOf } from '@restante/contracts/operations'
import { type Database, sql } from '@restante/service/database'
import { StreamedJson } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import { type FullMessageRow, messageDocument } from '../mailbox/rows/documents.ts'
import type { ScopeColumns } from '../mailbox/rows/rows.ts'
import { unpackedBytes } from '../mailbox/rows/unpacked-bytes.ts'
import { MESSAGE_ITEM_COLUMNS } from './pages/items.ts'
import { PAGE_BYTES } from './pages/list-query.ts'
import { isVisible } from './visible.ts'

type Batch = ResponseOf<'messages.batchGet'>

interface Outline extends ScopeColumns {
  readonly id: string
  readonly message_id: string
  readonly labels: readonly string[]
  /** About how many it takes in the answer. */
  readonly bytes: number
}

const OUTLINES = sql<Outline, [inboxUid: string, messageIds: readonly string[]]>(`
select id, message_id, organization_id, pod_id, inbox_uid, inbox_address, labels,
       ${unpackedBytes('recipients', 'reply_to', 'attachments', '"references"', 'labels')} + coalesce(octet_length(headers::text), 0)
         as bytes
  from messages left join message_bodies using (id)
 where inbox_uid = $1 and message_id = any($2)`)

type Row = Omit<FullMessageRow, 'text' | 'html' | 'extracted_text' | 'extracted_html'>

const WITHOUT_BODIES = sql<Row, [ids: readonly string[]]>(`
select ${MESSAGE_ITEM_COLUMNS}, reply_to, opened_at, coalesce(headers, '{}') as headers
  from messages left join message_bodies using (id)
 where id = any($1::uuid[]) order by array_position($1::uuid[], id)`)

const NO_BODY = { text: null, html: null, extracted_text: null, extracted_html: null }

/**
 * Several messages without their bodies, in the order of the request (mail 6.4). Where they are more than one answer has room
 * for, they are sent in portions, of which one is in memory at a time: there is no token with which a caller could ask for the
 * rest.
 */
export async function getMessages(
  db: Database,
  caller: Caller,
  messageIds: readonly string[],
): Promise<Batch | StreamedJson<Batch>> {
  const outlines = await db.query(OUTLINES, requireInbox(caller).uid, messageIds)
  const byId = new Map(outlines.map((outline) => [outline.message_id, outline]))
  const found = messageIds.flatMap((id) => {
    const outline = byId.get(id)
    return outline && isVisible(caller, outline) ? [outline] : []
  })
  const portions = inPortions(found)
  const limit = messageIds.length
  if (portions.length > 1) return new StreamedJson(written(db, caller, limit, portions))
  const messages = await read(db, caller, portions[0] ?? [])
  return { limit, count: messages.length, messages }
}

/** Without those that were hidden meanwhile: a slow client may ask for the last portion minutes after the first. */
async function read(db: Database, caller: Caller, ids: readonly string[]): Promise<Batch['messages']> {
  const rows = await db.query(WITHOUT_BODIES, ids)
  return rows.filter((row) => isVisible(caller, row)).map((row) => messageDocument({ ...row, ...NO_BODY }))
}

/** The ids of messages, divided so that each portion has room in one answer; one message alone may take more. */
function inPortions(outlines: readonly Outline[]): string[][] {
  const portions: string[][] = []
  let left = 0
  for (const { id, bytes } of outlines) {
    left -= bytes
    const last = portions.at(-1)
    if (last && left >= 0) last.push(id)
    else {
      portions.push([id])
      left = PAGE_BYTES - bytes
    }
  }
  return portions
}

async function* written(
  db: Database,
  caller: Caller,
  limit: number,
  portions: readonly string[][],
): AsyncGenerator<string> {
  let count = 0
  for (const ids of portions) {
    for (const message of await read(db, caller, ids)) {
      const before = count++ === 0 ? `{"limit":${limit},"messages":[` : ','
      yield before + JSON.stringify(message)
    }
  }
  // Last: a message may be deleted until it is read.
  yield count === 0 ? JSON.stringify({ limit, count, messages: [] }) : `],"count":${count}}`
}
