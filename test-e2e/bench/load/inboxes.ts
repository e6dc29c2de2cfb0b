import type { Tenant } from '../../support/tenants.ts'

/** Mail of one inbox is worked off in order, so that load has to be spread over many. @returns their addresses. */
export async function createInboxes(tenant: Tenant, count: number): Promise<readonly string[]> {
  const created = await Promise.all(Array.from({ length: count }, () => tenant.client.inboxes.create({})))
  return created.map(({ inboxId }) => inboxId)
}
