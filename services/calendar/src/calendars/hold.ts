import type { Caller } from '@restante/contracts/access'
import type { Tx } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import { requireInbox } from '@restante/service/identity'
import { holdScopes } from '@restante/tenancy'
import { requireCurrent } from '../take-overs/store.ts'
import type { Owner } from './store.ts'

/**
 * The calendar that a request changes. Until the transaction ends, its inbox is not marked deleted, because the purge would
 * miss what is committed after it, and no take-over that ends the caller's key is recorded.
 * @throws ApiError 404 when the inbox is deleted by now; 401 for a key from before a take-over.
 */
export async function holdCalendar(tx: Tx, caller: Caller): Promise<Owner> {
  const inbox = requireInbox(caller)
  const organizationId = caller.organization_id
  if (!(await holdScopes(tx, [inbox.uid, inbox.pod_id, organizationId]))) throw notFound('Inbox')
  await requireCurrent(tx, caller)
  return { organizationId, inbox }
}
