import type { BlobStore } from '@restante/blobs'
import type { Check, CheckPage, Finding } from '@restante/contracts/internal'
import { missingAmong, missingBytes } from '@restante/kit'
import { type Database, type Queryable, sql, type Tx } from '@restante/service/database'
import { rawMails } from './store.ts'

const PAGE = 200

// Names of bytes in rows come after those of the blob store: `inbound/`, `mailbox/`, `row/`.
const STORED = sql<{ blob: string; lost: boolean }, [after: string, rows: number]>(`
select blob, lost_at is not null as lost
  from raw_mails
 where blob > $1 and blob < 'row/' and refs > 0
 order by blob
 limit $2`)
const REFERENCED = sql<{ blob: string }, [blobs: readonly string[]]>('select blob from raw_mails where blob = any($1)')
const FOUND_AGAIN = sql<never, [blobs: readonly string[]]>('update raw_mails set lost_at = null where blob = any($1)')
const LOST = sql<never, [blobs: readonly string[]]>(
  'update raw_mails set lost_at = coalesce(lost_at, now()) where blob = any($1)',
)
const DROP_QUEUED = sql<{ blob: string }, [blobs: readonly string[]]>(
  'delete from inbound where blob = any($1) returning blob',
)
const DROP_WAITING = sql<{ blob: string }, [blobs: readonly string[]]>(
  'delete from waiting_mails where blob = any($1) returning blob',
)

/** Those of the blobs that a row refers to. */
export async function referencedBlobs(db: Queryable, names: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set((await db.query(REFERENCED, names)).map(({ blob }) => blob))
}

/**
 * Checks that the blob store has the bytes of every raw mail. Bytes are given up only when the operator says that the
 * object store was put back from a backup: then their messages keep what the database has of them, their downloads are
 * not found, and what is still in the queue ends, which would otherwise hold up its inbox for ever. Bytes that are found
 * later are available again.
 */
export function lostBytesCheck({ db, blobs }: { readonly db: Database; readonly blobs: BlobStore }): Check {
  return async ({ after = '', repair, restored }): Promise<CheckPage> => {
    const rows = await db.query(STORED, after, PAGE)
    const names = rows.map(({ blob }) => blob)
    const missing = await missingAmong(blobs, names)
    const found = rows.filter(({ blob, lost }) => lost && !missing.has(blob)).map(({ blob }) => blob)
    const lost = rows.filter((row) => !row.lost && missing.has(row.blob)).map(({ blob }) => blob)
    const givesUp = repair && restored.includes('objects')
    if (repair && found.length > 0) await db.query(FOUND_AGAIN, found)
    if (givesUp && lost.length > 0) await db.transaction((tx) => giveUp(tx, lost))
    const last = names.at(-1)
    return {
      examined: rows.length,
      findings: [
        ...lost.map((blob) => missingBytes(blob, 'the bytes of a mail are missing', givesUp)),
        ...found.map(
          (subject): Finding => ({
            subject,
            problem: 'bytes that were given up are there again',
            state: repair ? 'repaired' : 'open',
          }),
        ),
      ],
      ...(last !== undefined && rows.length === PAGE && { next: last }),
    }
  }
}

/** A worker that has leased one of the queued rows cannot conclude it: it needs the bytes for that. */
async function giveUp(tx: Tx, lost: readonly string[]): Promise<void> {
  const dropped = [...(await tx.query(DROP_QUEUED, lost)), ...(await tx.query(DROP_WAITING, lost))]
  await rawMails.release(
    tx,
    dropped.map(({ blob }) => blob),
  )
  await tx.query(LOST, lost)
}
