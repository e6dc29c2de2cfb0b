import { sql, type Tx } from '@restante/service/database'

/**
 * The time of attempts that a hold keeps back. Their timers are not due before the hold is released, so that a long
 * hold costs nothing.
 */
export const HELD_UNTIL = new Date('9999-01-01T00:00:00.000Z')

/** Whether a hold `h` is about a delivery of organization `organization` to `destination` (expressions of SQL). */
export function holds(organization: string, destination: string): string {
  return `(h.organization_id is null or h.organization_id = ${organization})
   and (h.destination is null or h.destination = ${destination})`
}

const KEEP_HOLDS = sql<{ id: string }, [organizationId: string | null, destination: string]>(
  `select h.id from delivery_holds h where ${holds('$1::uuid', '$2::text')} for share of h`,
)

/**
 * Whether it is still held. A release waits for the end of this transaction, and then finds the timer that it has
 * postponed; without that the timer could be postponed after the release, for good.
 */
export async function staysHeld(tx: Tx, organizationId: string | null, destination: string): Promise<boolean> {
  return (await tx.query(KEEP_HOLDS, organizationId, destination)).length > 0
}
