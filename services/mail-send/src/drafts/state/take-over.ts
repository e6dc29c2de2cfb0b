import type { Schedule } from '@restante/jobs'
import type { Outbox } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import { files } from '../../files/store.ts'
import type { SendTimers } from '../../timers/kinds.ts'
import { deletedEvent, draftsTopic } from './events.ts'
import { type DraftIdentity, drafts } from './store.ts'

/** Drafts deleted in one statement. */
const BATCH = 500

/**
 * Deletes the drafts that were created before a take-over that the human has confirmed (identity 5.1). Repeating it, in
 * any order, has one effect: drafts of the successor have the number of this take-over or a higher one.
 */
export async function deleteEarlierDrafts(
  tx: Tx,
  { outbox, timers }: { readonly outbox: Outbox; readonly timers: Schedule<SendTimers> },
  { organization_id, take_overs }: { readonly organization_id: string; readonly take_overs: number },
): Promise<void> {
  for (let rows: DraftIdentity[] | undefined; rows === undefined || rows.length === BATCH; ) {
    rows = await drafts.deleteEarlier(tx, organization_id, take_overs, BATCH)
    const ids = rows.map(({ id }) => id)
    await files.releaseAll(tx, ids)
    // A timer whose attempt is just being concluded finds no draft.
    await timers.cancelIdle(tx, 'draft-send', ids)
    const time = new Date()
    await outbox.addAll(
      tx,
      draftsTopic,
      rows.map((row) => deletedEvent(row, time)),
    )
  }
}
