import type { Check } from '@restante/contracts/internal'
import { projectionCheck } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { applyListEntry } from './consumers.ts'
import { listEntries } from './store.ts'

const PAGE = 500
const SNAPSHOT_MS = 10_000

/** Compares the entries of receive and reply lists with those of their owner, and repairs what differs. */
export function listsCheck(db: Database, mailSend: Pick<ServiceClient, 'call'>): Check {
  return projectionCheck({
    db,
    async snapshot(after) {
      const request = { limit: PAGE, ...(after !== undefined && { after }) }
      const { entries, next } = await mailSend.call('mail-send.snapshotListEntries', request, SNAPSHOT_MS)
      return { entities: entries, next }
    },
    idOf: ({ entry_id }) => entry_id,
    rows: (on, after, through, most) => listEntries.between(on, after, through, most),
    drop: (tx, id, version) => listEntries.drop(tx, id, version),
    apply: (tx, entry) => applyListEntry(tx, entry),
  })
}
