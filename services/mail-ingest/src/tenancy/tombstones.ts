import { Tombstones } from '@restante/tenancy'
import { lockMailbox } from '../mailbox/lock.ts'

/**
 * Tombstones of inboxes and organizations. An inbox is marked deleted under the lock of its mailbox, so that the purge
 * sees every mail that was being stored; its address is kept, because late events about sent mail name it.
 */
export const scopeTombstones = new Tombstones({
  lock: async (tx, { kind, id }) => {
    if (kind === 'inbox') await lockMailbox(tx, id)
  },
  keepsAddresses: true,
})
