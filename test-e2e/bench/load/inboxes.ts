import type { Tenant } from '../../support/tenants.ts'

const AT_ONCE = 20

/**
 * Creates inboxes. Mail of one inbox is processed in order, so load must be spread over many. @returns their addresses.
 */
export async function createInboxes(tenant: Tenant, count: number): Promise<readonly string[]> {
  const created: string[] = []
  while (created.length < count) {
    const next = Array.from({ length: Math.min(AT_ONCE, count - created.length) }, () =>
      tenant.client.inboxes.create({}),
    )
    created.push(...(await Promise.all(next)).map(({ inboxId }) => inboxId))
  }
  return created
}
