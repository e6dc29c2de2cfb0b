import { type Queryable, sql, type Tx } from '@restante/service/database'

/** The recipient of a delivery, and the organization whose mail it was. */
export interface Subscription {
  readonly organization_id: string
  readonly recipient: string
}

const OF_DELIVERY = `
select s.organization_id, d.recipient
  from deliveries d join sends s on s.id = d.send_id
 where d.id = $1 and s.organization_id is not null`
const FIND = sql<Subscription, [deliveryId: string]>(OF_DELIVERY)
const LOCK = sql<Subscription, [deliveryId: string]>(`${OF_DELIVERY}\n   for update of d`)

/** The subscription that a delivery is evidence of; none for mail of the installation itself. */
export async function findSubscription(on: Queryable, deliveryId: string): Promise<Subscription | undefined> {
  return (await on.query(FIND, deliveryId))[0]
}

/** The same, locked: the purge of its organization waits, and then finds what the transaction has added. */
export async function lockSubscription(tx: Tx, deliveryId: string): Promise<Subscription | undefined> {
  return (await tx.query(LOCK, deliveryId))[0]
}
