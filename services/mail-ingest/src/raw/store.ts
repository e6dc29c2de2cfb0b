import { type Queryable, sql } from '@restante/service'

const RESERVE = sql<never, [blob: string]>('insert into raw_mails (blob, refs, size) values ($1, 0, 0)')

const HOLD = sql<{ blob: string }, [blob: string, refs: number, size: number]>(
  'update raw_mails set refs = refs + $2, size = $3, updated_at = now() where blob = $1 returning blob',
)

const RELEASE = sql<never, [blobs: readonly string[]]>(`
update raw_mails set refs = refs - uses.count, updated_at = now()
  from (select blob, count(*)::int as count from unnest($1::text[]) as used(blob) group by blob) as uses
 where raw_mails.blob = uses.blob`)

/**
 * How many rows need each raw mail. The counts change in the transactions of those rows; a blob is deleted by the
 * sweeper once nothing needs it. A reservation comes before the blob is written, so that a crash in between leaves a
 * row that names what to clean up, never a blob that nobody knows.
 */
export const rawMails = {
  /** Announces a blob that is about to be written; commits by itself. */
  async reserve(db: Queryable, blob: string): Promise<void> {
    await db.query(RESERVE, blob)
  },

  /** Adds `refs` uses of a reserved blob of `size` bytes, in the transaction of the rows that use it. */
  async hold(tx: Queryable, blob: string, refs: number, size: number): Promise<void> {
    const held = await tx.query(HOLD, blob, refs, size)
    if (held.length === 0) throw new Error(`the raw mail ${blob} was not reserved`)
  },

  /** Gives up one use for each time a blob is named. */
  async release(tx: Queryable, blobs: readonly string[]): Promise<void> {
    if (blobs.length > 0) await tx.query(RELEASE, blobs)
  },
}
