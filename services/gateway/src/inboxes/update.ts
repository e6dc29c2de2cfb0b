import type { RequestOf } from '@restante/contracts/operations'
import { invalid } from '@restante/service/errors'
import type { Inbox } from '../generated/prisma/client.ts'
import type { Tx } from '../storage/database.ts'
import { inboxChanged, type TenancyEvents } from '../tenancy/events.ts'
import type { AddressRules } from './create.ts'
import { stillInherited } from './inheritance.ts'
import { mergeMetadata, metadataFromRow, sameMetadata } from './metadata.ts'
import { refuseSystemName } from './names/display-names.ts'
import { changeInbox } from './store.ts'

/** Changes what an update names of a locked inbox, and publishes the inbox unless it stays the same (identity 8.5). */
export async function updateInbox(
  tx: Tx,
  { events, addresses }: { readonly events: TenancyEvents; readonly addresses: AddressRules },
  target: Inbox,
  body: RequestOf<'inboxes.update'>['body'],
): Promise<Inbox> {
  if (isOnSharedDomain(target, addresses)) refuseSystemName(body.display_name, addresses.systemSender.name)
  const current = metadataFromRow(target.metadata)
  const metadata = mergeMetadata(current, body.metadata)
  if (metadata === undefined) throw invalid(['metadata'], 'Must have at most 256 keys, existing ones included')
  const displayName = body.display_name === undefined ? target.displayName : body.display_name || null
  const status = body.status ?? target.status
  const inherited = stillInherited(target.inherited, body)
  const unchanged = displayName === target.displayName && status === target.status && sameMetadata(metadata, current)
  if (unchanged && inherited.length === target.inherited.length) return target
  const changed = await changeInbox(tx, target, { displayName, status, metadata, inherited })
  await events.record(tx, inboxChanged(changed))
  return changed
}

function isOnSharedDomain({ address }: Inbox, { sharedDomains }: AddressRules): boolean {
  return sharedDomains.has(address.slice(address.lastIndexOf('@') + 1))
}
