import { type Queryable, sql } from '@restante/service/database'

// Announcing it again restarts its age: only blobs untouched for an hour are swept.
const PENDING = sql<never, [sendIds: readonly string[]]>(`
insert into pending_blobs (send_id) select send_id from unnest($1::uuid[]) as given (send_id) order by send_id
on conflict (send_id) do update set created_at = now()`)
const NO_LONGER_PENDING = sql<never, [sendIds: readonly string[]]>(
  'delete from pending_blobs where send_id = any($1::uuid[])',
)
const STILL_PENDING = sql<{ send_id: string }, [sendId: string]>(
  'select send_id from pending_blobs where send_id = $1 for update',
)

/**
 * Records that the blob of a message is about to be written, so that it is removed if the message is never accepted.
 */
export async function announceBlob(on: Queryable, ...sendIds: readonly string[]): Promise<void> {
  await on.query(PENDING, sendIds)
}

/** Removes the record of a blob that was deleted again. */
export async function forgetBlob(on: Queryable, ...sendIds: readonly string[]): Promise<void> {
  await on.query(NO_LONGER_PENDING, sendIds)
}

/**
 * Whether an announced message was accepted, when the answer to its commit was lost. A transaction that the server is
 * still executing holds the row, and is waited for.
 */
export async function wasAccepted(on: Queryable, sendId: string): Promise<boolean> {
  return (await on.query(STILL_PENDING, sendId)).length === 0
}
