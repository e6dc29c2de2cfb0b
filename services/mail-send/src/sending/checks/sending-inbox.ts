import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { InternalResponseOf } from '@restante/contracts/internal'
import { listNames } from '@restante/mime'
import type { Queryable } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import { listEntries } from '../../lists/store.ts'
import { recipientsBlocked, refusedRecipients, suspended } from './refusals.ts'

/** A caller whose request is about an inbox. */
export type InboxCaller = Caller & { readonly inbox: CallerInbox }

type Sender = NonNullable<InternalResponseOf<'gateway.getSendingInbox'>['sender']>

/** The inbox itself as the caller: nobody's key sends what was asked for earlier, so none limits what it may see. */
export function inboxAsCaller({ take_overs: _, inbox, ...organization }: Sender): InboxCaller {
  const credential = { id: inbox.uid, type: 'bearer', tier: 'inbox', app_connect: false, provisional: false } as const
  return { ...organization, pod_id: inbox.pod_id, inbox, credential }
}

/** @throws ApiError 403 for a paused inbox or a suspended organization. */
export function requireSending({ inbox, sending }: Caller): void {
  if (inbox?.paused === true) throw new ApiError('inbox_paused')
  if (sending === 'suspended') throw suspended()
}

/** @throws ApiError 403 for recipients that the lists, or the state of the organization, do not allow (mail 12). */
export async function checkLists(
  on: Queryable,
  caller: Caller,
  inbox: CallerInbox,
  addresses: readonly string[],
): Promise<void> {
  const names = [...new Set(addresses.flatMap(listNames))]
  const scope = { organizationId: caller.organization_id, podId: inbox.pod_id, uid: inbox.uid }
  const found = await listEntries.find(on, 'send', scope, names)
  const refused = refusedRecipients(addresses, caller.sending, found)
  if (refused.length > 0) throw recipientsBlocked(refused, { credential: caller.credential, inbox })
}
