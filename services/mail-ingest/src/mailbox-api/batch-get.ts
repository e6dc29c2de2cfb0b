import type { Caller } from '@restante/contracts/access'
import type { ResponseOf } from '@restante/contracts/operations'
import { type Database, sql } from '@restante/service/database'
import { messageDocument } from '../mailbox/rows/documents.ts'
import type { BodyColumns } from '../mailbox/rows/rows.ts'
import { visibleMessages } from './visible.ts'

/** Headers of one answer; those of further messages are left out. */
const HEADER_BYTES = 10 * 1024 * 1024

const HEADERS = sql<Pick<BodyColumns, 'headers'> & { id: string }, [ids: readonly string[]]>(`
select id, headers
  from (select id, headers,
               sum(octet_length(headers::text)) over (order by array_position($1::uuid[], id)) as bytes
          from message_bodies where id = any($1::uuid[])) as sized
 where bytes <= ${HEADER_BYTES}`)

const NO_BODY = { text: null, html: null, extracted_text: null, extracted_html: null }

/** Several messages without their bodies, in the order of the request (mail 6.4). */
export async function getMessages(
  db: Database,
  caller: Caller,
  messageIds: readonly string[],
): Promise<ResponseOf<'messages.batchGet'>> {
  const messages = await visibleMessages(db, caller, messageIds)
  const ids = messages.map(({ id }) => id)
  const headersOf = new Map((await db.query(HEADERS, ids)).map(({ id, headers }) => [id, headers]))
  const documents = messages.map((message) => {
    const found = headersOf.get(message.id)
    const { headers, ...rest } = messageDocument({ ...message, ...NO_BODY, headers: found ?? {} })
    return found === undefined ? rest : { ...rest, headers }
  })
  return { limit: messageIds.length, count: documents.length, messages: documents }
}
