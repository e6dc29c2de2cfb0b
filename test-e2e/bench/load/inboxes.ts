import type { Tenant } from '../../support/tenants.ts'

/**
 * Creates inboxes. Mail of one inbox is processed in order, so load must be spread over many. @returns their addresses.
 */
export async function createInboxes(tenant: Tenant, count: number): Promise<readonly string[]> {
  const created = await Promise.all(Array.from({ length: count }, () => tenant.client.inboxes.create({})))
  return created.map(({ inboxId }) => inboxId)
}
