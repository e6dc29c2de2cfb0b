import type { Check, CheckPage, Finding } from '@restante/contracts/internal'
import { sentCopy } from '@restante/contracts/schemas'
import { type Queryable, sql } from '@restante/service/database'
import { messageOf, UpstreamError } from '@restante/service/errors'
import { type ServiceClient, UpstreamRejectedError } from '@restante/service/http'

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
 * owner deleted is not missing. A repair places it again; one that cannot be placed is reported, and the others are.
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
    const findings: Finding[] = []
    for (const row of lost) findings.push(findingOf(row, repair, repair ? await place(row, mailIngest) : undefined))
    return { examined: rows.length, findings, ...(rows.length === PAGE && { next: last.id }) }
  }
}

/** @returns why the copy cannot be placed. @throws UpstreamError when mail-ingest does not answer: it would not for the others. */
async function place({ copy }: SentRow, mailIngest: Pick<ServiceClient, 'call'>): Promise<string | undefined> {
  const request = sentCopy.safeParse(copy)
  if (!request.success) return 'what is stored of it is not what mail-ingest accepts'
  try {
    await mailIngest.call('mail-ingest.placeSent', request.data, PLACE_MS)
    return undefined
  } catch (error) {
    const isAnswered =
      error instanceof UpstreamRejectedError || (error instanceof UpstreamError && error.status !== undefined)
    if (isAnswered) return messageOf(error)
    throw error
  }
}

function findingOf({ message_id: subject }: SentRow, repair: boolean, obstacle: string | undefined): Finding {
  const problem = 'a sent message has no copy in its mailbox'
  if (obstacle === undefined) return { subject, problem, state: repair ? 'repaired' : 'open' }
  const advice = `it cannot be placed: ${obstacle}; mail-ingest logs why. If its bytes are missing, the check bytes says so`
  return { subject, problem, state: 'open', advice }
}

function keyOf({ inbox_uid, message_id }: { readonly inbox_uid: string; readonly message_id: string }): string {
  return `${inbox_uid} ${message_id}`
}
