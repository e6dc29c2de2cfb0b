import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import { hashOf } from './secrets.ts'

const { exchangesPerMinute, failedExchangesPerMinute, signInsPerMinute } = LIMITS.app

/** More exchanges than a minute allows. `retryAfter` in seconds. */
export class RateLimitedError extends Error {
  override readonly name = 'RateLimitedError'
  readonly retryAfter: number

  constructor(retryAfter: number) {
    super('Too many exchanges in this minute')
    this.retryAfter = retryAfter
  }
}

/** Counted by the minute of the database's clock, so that replicas count together. */
interface Counted {
  readonly exchanges: number
  /** Seconds until the next minute. */
  readonly left: number
}

const LEFT = "ceil(extract(epoch from date_trunc('minute', now()) + interval '1 minute' - now()))::int as left"
const COUNT = sql<Counted, [subject: string]>(
  `insert into exchange_counts (subject, minute, exchanges) values ($1, date_trunc('minute', now()), 1)
   on conflict (subject, minute) do update set exchanges = exchange_counts.exchanges + 1
   returning exchanges, ${LEFT}`,
)
const READ = sql<Counted, [subject: string]>(
  `select exchanges, ${LEFT} from exchange_counts where subject = $1 and minute = date_trunc('minute', now())`,
)

/**
 * Counts a successful exchange of a client, in the transaction of the exchange. A request without a valid
 * code does not count, because anyone can send the id of a client that has no secret.
 * @throws RateLimitedError beyond the limit; the exchange is rolled back, and its code stays good.
 */
export async function countExchange(tx: Queryable, clientId: string): Promise<void> {
  const [counted] = await tx.query(COUNT, subjectOf('client', clientId))
  if (counted !== undefined && counted.exchanges > exchangesPerMinute) throw new RateLimitedError(counted.left)
}

/** A client as one network names it: failures of one network do not count against another. */
export interface Claimant {
  readonly clientId: string
  /** An IPv4 address, or the /64 of an IPv6 one. */
  readonly network: string
}

/**
 * Refuses a network that has failed too often as this client.
 * @throws RateLimitedError
 */
export async function requireFewFailures(on: Queryable, claimant: Claimant): Promise<void> {
  const [counted] = await on.query(READ, failuresOf(claimant))
  if (counted !== undefined && counted.exchanges >= failedExchangesPerMinute) throw new RateLimitedError(counted.left)
}

/**
 * Counts a failed authentication or exchange.
 * @throws RateLimitedError beyond the limit: of failures at once only so many are told what was wrong.
 */
export async function countFailure(on: Queryable, claimant: Claimant): Promise<void> {
  const [counted] = await on.query(COUNT, failuresOf(claimant))
  if (counted !== undefined && counted.exchanges > failedExchangesPerMinute) throw new RateLimitedError(counted.left)
}

/**
 * Counts a sign-in that begins, which anybody can make: each is a row for an hour.
 * @throws RateLimitedError beyond what one network may begin.
 */
export async function countBeginning(on: Queryable, network: string): Promise<void> {
  const [counted] = await on.query(COUNT, subjectOf('begun', network))
  if (counted !== undefined && counted.exchanges > signInsPerMinute) throw new RateLimitedError(counted.left)
}

function failuresOf({ clientId, network }: Claimant): string {
  return subjectOf('failed', clientId, network)
}

/** Hashed: the table holds no addresses, and no text of any length that a stranger sends. */
function subjectOf(...parts: readonly string[]): string {
  return hashOf(JSON.stringify(parts)).toString('base64url')
}
