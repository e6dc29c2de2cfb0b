import { sentCopy } from '@restante/contracts'
import { type InternalHandlers, type Queryable, sql } from '@restante/service'

const FIND = sql<{ copy: unknown }, [inboxUid: string, messageIds: readonly string[]]>(`
select copy
  from sends
 where inbox_uid = $1 and message_id = any($2::text[]) and copy is not null
 order by array_position($2::text[], message_id)
 limit 1`)

/** Copies of sent messages for a mailbox that does not hold them yet. */
export function copyRoutes(db: Queryable): Pick<InternalHandlers<'mail-send'>, 'mail-send.getSentCopy'> {
  return {
    'mail-send.getSentCopy': async ({ body }) => {
      const [found] = await db.query(FIND, body.inbox_uid, body.message_ids)
      return found ? { copy: sentCopy.parse(found.copy) } : {}
    },
  }
}
