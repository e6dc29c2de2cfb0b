import { lockScope, Tombstones } from '@restante/tenancy'
import { lockMailbox } from '../mailbox/lock.ts'

/**
 * Tombstones of inboxes and organizations. An inbox is marked deleted under the lock of its mailbox, so that the purge
 * sees every mail that was being stored; every scope under the lock that writes of list entries hold. The address of an
 * inbox is kept, because late events about sent mail name it.
 */
export const scopeTombstones = new Tombstones({
  lock: async (tx, scope) => {
    await lockScope(tx, scope)
    if (scope.kind === 'inbox') await lockMailbox(tx, scope.id)
  },
  keepsAddresses: true,
})
