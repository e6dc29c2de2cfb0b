import type { Check, CheckPage } from '@restante/contracts/internal'
import { sentCopy } from '@restante/contracts/schemas'
import { type Queryable, sql } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'

const PAGE = 100
const ASK_MS = 10_000
const PLACE_MS = 30_000
const FIRST = '00000000-0000-0000-0000-000000000000'

interface SentRow {
  readonly id: string
  readonly inbox_uid: string
  readonly message_id: string
  readonly copy: unknown
}

// A younger message may be on its way.
const SENT = sql<SentRow, [after: string, rows: number]>(`
select id, inbox_uid, message_id, copy
  from sends
 where id > $1 and copy is not null and inbox_uid is not null and accepted_at < now() - interval '1 minute'
 order by id
 limit $2`)

/**
 * Checks that each message that was sent, and whose bytes are still kept, has its copy in the mailbox. A copy that its
 * owner deleted is not missing. A repair places it again.
 */
export function missingCopiesCheck(db: Queryable, mailIngest: Pick<ServiceClient, 'call'>): Check {
  return async ({ after = FIRST, repair }): Promise<CheckPage> => {
    const rows = await db.query(SENT, after, PAGE)
    const last = rows.at(-1)
    if (last === undefined) return { examined: 0, findings: [] }
    const messages = rows.map(({ inbox_uid, message_id }) => ({ inbox_uid, message_id }))
    const { missing } = await mailIngest.call('mail-ingest.findMissingCopies', { messages }, ASK_MS)
    const keys = new Set(missing.map(keyOf))
    const lost = rows.filter((row) => keys.has(keyOf(row)))
    if (repair) {
      for (const { copy } of lost) await mailIngest.call('mail-ingest.placeSent', sentCopy.parse(copy), PLACE_MS)
    }
    return {
      examined: rows.length,
      findings: lost.map(({ message_id }) => ({
        subject: message_id,
        problem: 'a sent message has no copy in its mailbox',
        state: repair ? 'repaired' : 'open',
      })),
      ...(rows.length === PAGE && { next: last.id }),
    }
  }
}

function keyOf({ inbox_uid, message_id }: { readonly inbox_uid: string; readonly message_id: string }): string {
  return `${inbox_uid} ${message_id}`
}
