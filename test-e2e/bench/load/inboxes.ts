import type { InboxScope } from '@restante/testkit'
import pg from 'pg'
import { z } from 'zod'
import type { Endpoints } from '../../stack/endpoints.ts'
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

/** The inboxes of an organization, as events name them. */
export async function scopesOf({ databases }: Endpoints, { id }: Tenant): Promise<InboxScope[]> {
  const client = new pg.Client({ connectionString: databases.gateway })
  await client.connect()
  try {
    const { rows } = await client.query('select uid, pod_id, address from inboxes where organization_id = $1', [id])
    const scope = z.object({ uid: z.string(), pod_id: z.string(), address: z.string() })
    return z
      .array(scope)
      .parse(rows)
      .map(({ uid, pod_id, address }) => ({ organizationId: id, podId: pod_id, inboxUid: uid, address }))
  } finally {
    await client.end()
  }
}
