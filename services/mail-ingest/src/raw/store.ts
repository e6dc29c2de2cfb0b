import { type Queryable, sql } from '@restante/service/database'

/** The prefix of the copies of an inbox's sent mail. */
export function copiesOf(inboxUid: string): string {
  return `mailbox/${inboxUid}/`
}

/** The number of new rows that refer to a raw mail of `size` bytes. */
export interface RawMailUse {
  readonly blob: string
  readonly refs: number
  readonly size: number
  /** Its bytes, if they are stored in its row. */
  readonly content?: Buffer
}

const RESERVE = sql<never, [blobs: readonly string[]]>(
  'insert into raw_mails (blob, refs, size) select blob, 0, 0 from unnest($1::text[]) as reserved(blob)',
)

const FORGET_RESERVED = sql<never, [blobs: readonly string[]]>(
  'delete from raw_mails where blob = any($1) and refs = 0 and size = 0',
)

// One value holds the bytes of all mails: values of their own would have to be spelled as text.
const ADD = sql<
  never,
  [
    blobs: readonly string[],
    refs: readonly number[],
    sizes: readonly number[],
    starts: readonly number[],
    bytes: Buffer,
  ]
>(`
insert into raw_mails (blob, refs, size, content)
select blob, refs, size, substr($5::bytea, start, size)
  from unnest($1::text[], $2::int[], $3::int[], $4::int[]) as added(blob, refs, size, start)`)

const HOLD = sql<{ blob: string }, [blobs: readonly string[], refs: readonly number[], sizes: readonly number[]]>(`
update raw_mails set refs = raw_mails.refs + used.refs, size = used.size, updated_at = now()
  from unnest($1::text[], $2::int[], $3::int[]) as used(blob, refs, size)
 where raw_mails.blob = used.blob
returning raw_mails.blob`)

// Locked in a fixed order first: two inboxes that share several mails could otherwise deadlock.
const RELEASE = sql<{ blob: string; refs: number }, [blobs: readonly string[]]>(`
with held as (select blob from raw_mails where blob = any($1) order by blob for update)
update raw_mails set refs = refs - uses.count, updated_at = now()
  from (select blob, count(*)::int as count from unnest($1::text[]) as used(blob) join held using (blob) group by blob) as uses
 where raw_mails.blob = uses.blob
returning raw_mails.blob, raw_mails.refs`)

const FORGET = sql<never, [blobs: readonly string[]]>('delete from raw_mails where blob = any($1)')

/**
 * Reference counts of raw mails. The counts change in the transactions of the referring rows; the sweeper deletes a
 * blob without references. A reservation is committed before the blob is written, so that a crash in between leaves a
 * row that names what to clean up, never an unknown blob.
 */
export const rawMails = {
  /** Reserves blobs that are about to be written, in a transaction of its own. */
  async reserve(db: Queryable, blobs: readonly string[]): Promise<void> {
    await db.query(RESERVE, blobs)
  },

  /** Removes reservations under which nothing was written. */
  async forgetReserved(db: Queryable, blobs: readonly string[]): Promise<void> {
    if (blobs.length > 0) await db.query(FORGET_RESERVED, blobs)
  },

  /**
   * Adds references in the transaction of the referring rows: to reserved blobs, each named once, and to bytes that are
   * stored here and now.
   */
  async hold(tx: Queryable, uses: readonly RawMailUse[]): Promise<void> {
    const inRows = uses.flatMap((use) =>
      use.content === undefined || use.refs === 0 ? [] : [{ ...use, content: use.content }],
    )
    await Promise.all([
      add(tx, inRows),
      holdReserved(
        tx,
        uses.filter(({ content }) => content === undefined),
      ),
    ])
  },

  /**
   * Removes one reference for each time a blob is named.
   * @returns the blobs that have no references left, which the sweeper deletes.
   */
  async release(tx: Queryable, blobs: readonly string[]): Promise<string[]> {
    if (blobs.length === 0) return []
    return (await tx.query(RELEASE, blobs)).flatMap(({ blob, refs }) => (refs === 0 ? [blob] : []))
  },

  /** Lets the sweeper delete bytes that were written under a reservation and are not needed. */
  async abandon(tx: Queryable, { blob, size, content }: Omit<RawMailUse, 'refs'>): Promise<void> {
    if (content === undefined) await tx.query(HOLD, [blob], [0], [size])
  },

  /** Removes the rows of deleted blobs. */
  async forget(tx: Queryable, blobs: readonly string[]): Promise<void> {
    if (blobs.length > 0) await tx.query(FORGET, blobs)
  },
}

async function add(tx: Queryable, mails: readonly (RawMailUse & { readonly content: Buffer })[]): Promise<void> {
  if (mails.length === 0) return
  let end = 1
  const starts = mails.map(({ content }) => {
    const start = end
    end += content.length
    return start
  })
  await tx.query(
    ADD,
    mails.map(({ blob }) => blob),
    mails.map(({ refs }) => refs),
    mails.map(({ content }) => content.length),
    starts,
    Buffer.concat(mails.map(({ content }) => content)),
  )
}

async function holdReserved(tx: Queryable, uses: readonly RawMailUse[]): Promise<void> {
  if (uses.length === 0) return
  const held = await tx.query(
    HOLD,
    uses.map(({ blob }) => blob),
    uses.map(({ refs }) => refs),
    uses.map(({ size }) => size),
  )
  if (held.length < uses.length) throw new Error('a raw mail was not reserved')
}
