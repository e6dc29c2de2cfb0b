import { operations } from '@restante/contracts/operations'
import { rightCall } from '../support/calls/right-calls.ts'
import { createOrganization } from '../support/organizations.ts'
import type { Suite } from '../support/suite.ts'
import { TOOL_CALLS } from './catalogue.ts'

/** A call of each tool that succeeds with the key of the suite's organization, each once. */
export async function everyCall(suite: Suite): Promise<(readonly [name: string, args: object])[]> {
  const organization = await createOrganization(suite)
  const calls: (readonly [string, object])[] = []
  for (const [name, { operation, args }] of Object.entries(TOOL_CALLS)) {
    const fresh = await rightCall(operations[operation]).fresh?.(organization)
    const usedUp = name === 'delete_inbox' && { inbox_id: (await suite.tenant.client.inboxes.create({})).inboxId }
    calls.push([name, args({ ...organization.named, ...fresh, ...usedUp }, organization.human)])
  }
  return calls
}
