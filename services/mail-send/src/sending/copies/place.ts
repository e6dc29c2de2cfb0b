import type { SentCopy } from '@restante/contracts/schemas'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'

/**
 * Placing the copy lets the caller read its own write; the event does the same a moment later. It takes milliseconds, unless the
 * mailbox is busy. Then the caller waits, because it may read the thread next and would not find its reply there.
 */
const PLACE_MS = 2_000

/** Has the mailbox show a message that was accepted; it will without this call, too. */
export async function placeCopy(mailIngest: ServiceClient<'mail-send'>, copy: SentCopy, log: Logger): Promise<void> {
  await mailIngest
    .call('mail-ingest.placeSent', copy, PLACE_MS)
    .catch((error: unknown) => log.warn({ err: error }, 'sent copy not placed synchronously, event will place it'))
}
