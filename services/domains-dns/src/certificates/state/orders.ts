import { randomUUID } from 'node:crypto'
import { type Queryable, sql } from '@restante/service/database'
import { type HostState, type PastOrder, roomAt, WEEK } from '../rules/schedule.ts'
import { countRegistrations } from './registrations.ts'

const BEGIN = sql<unknown, [id: string, name: string]>('insert into certificate_orders (id, name) values ($1, $2)')
const END = sql<unknown, [id: string, outcome: string, retryAt: Date | null]>(
  'update certificate_orders set outcome = $2, retry_at = $3 where id = $1',
)
/** More than the rules look at. */
const MOST = 50
const SINCE = `started_at > now() - interval '${WEEK} milliseconds'`
const PAST = sql<PastOrder, [name: string]>(
  `select started_at, outcome, retry_at from certificate_orders
   where name = $1 and ${SINCE} order by started_at desc limit ${MOST}`,
)
/** The order that is the last but `others` of the last hour, of all hosts. */
const FILLING = sql<{ started_at: Date }, [others: number]>(
  `select started_at from certificate_orders where started_at > now() - interval '1 hour'
   order by started_at desc offset $1 limit 1`,
)
const CERTIFICATE = sql<{ not_after: Date; renew_at: Date }, [name: string]>(
  'select not_after, renew_at from tracking_certificates where name = $1',
)

/** Records that an order begins, before the authority hears of it. @returns its id. */
export async function beginOrder(db: Queryable, name: string): Promise<string> {
  const id = randomUUID()
  await db.query(BEGIN, id, name)
  return id
}

/** Records how an order ended. @param retryAt when the authority allows the next one. */
export async function endOrder(on: Queryable, id: string, outcome: string, retryAt?: Date): Promise<void> {
  await on.query(END, id, outcome, retryAt ?? null)
}

/**
 * Everything that decides what is done next about the tracking host of a name.
 * @param perHour most orders of all hosts together.
 */
export async function readHost(on: Queryable, name: string, perHour: number): Promise<HostState> {
  const counts = await countRegistrations(on, name)
  const [certificate] = await on.query(CERTIFICATE, name)
  const [filling] = await on.query(FILLING, perHour - 1)
  return { ...counts, certificate, orders: await on.query(PAST, name), roomAt: roomAt(filling?.started_at) }
}
