import { createHash } from 'node:crypto'
import { normalizeAddress } from '@restante/mime'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import { exceededStep, type Ramp, rampEnd } from '../checks/ramp.ts'
import { newRecipientsExceeded } from '../checks/refusals.ts'

/** Whose mail a ramp is about. */
export interface Newcomer {
  readonly organizationId: string
  readonly verifiedAt: Date | undefined
  /** Normalized, each once, without the sending inbox itself. */
  readonly addresses: readonly string[]
}

const KNOWN = sql<{ hash: Buffer }, [organizationId: string, hashes: readonly Buffer[]]>(
  'select hash from known_recipients where organization_id = $1 and hash = any($2::bytea[])',
)
const COUNTED = sql<{ recipients: number }, [organizationId: string]>(
  'select recipients from recipient_ramps where organization_id = $1',
)
// Locks the row, whether it was there or not: messages with new recipients are accepted one after the other.
const HOLD = sql<{ is_new: boolean }, [organizationId: string, endsAt: string]>(`
insert into recipient_ramps (organization_id, recipients, ends_at) values ($1, 0, $2)
on conflict (organization_id) do update set ends_at = excluded.ends_at
returning xmax::text = '0' as is_new`)
const HISTORY = sql<{ recipient: string; is_new: boolean }, [organizationId: string, verifiedAt: string]>(`
select d.recipient, bool_and(s.accepted_at >= $2) as is_new
  from sends s join deliveries d on d.send_id = s.id
 where s.organization_id = $1
 group by d.recipient`)
const ADD = sql<{ hash: Buffer }, [organizationId: string, hashes: readonly Buffer[]]>(`
insert into known_recipients (organization_id, hash) select $1, hash from unnest($2::bytea[]) as given(hash)
on conflict do nothing returning hash`)
const COUNT = sql<{ recipients: number }, [organizationId: string, recipients: number]>(
  'update recipient_ramps set recipients = recipients + $2 where organization_id = $1 returning recipients',
)

/** Rows of ramps that have ended; a process whose clock is late may still need them for a while. */
export const FORGET_RAMPS = [
  `delete from known_recipients where ctid = any(array(
    select known.ctid from known_recipients known join recipient_ramps ramp using (organization_id)
     where ramp.ends_at < now() - interval '1 hour' limit $1)) returning 1 as one`,
  `delete from recipient_ramps ramp where organization_id in (select organization_id from recipient_ramps ended
    where ended.ends_at < now() - interval '1 hour'
      and not exists (select from known_recipients known where known.organization_id = ended.organization_id) limit $1)
   returning 1 as one`,
]
/** Rows of a deleted organization. */
export const DELETE_RAMPS_OF_ORGANIZATION = [
  `delete from known_recipients where ctid = any(array(
    select ctid from known_recipients where organization_id = $1 limit $2)) returning 1 as one`,
  `delete from recipient_ramps where organization_id in
    (select organization_id from recipient_ramps where organization_id = $1 limit $2) returning 1 as one`,
]

/**
 * Limits how many people an agent writes to for the first time, while its human was verified only recently (identity 5.2).
 * Recipients are kept as hashes: nothing but the next comparison needs them.
 */
export class NewRecipients {
  readonly #ramp: Ramp

  constructor(ramp: Ramp) {
    this.#ramp = ramp
  }

  /** An early check, as far as the ramp has begun to count; `count` decides. @throws ApiError 429 */
  async check(on: Queryable, newcomer: Newcomer, now: Date): Promise<void> {
    const { organizationId, verifiedAt } = newcomer
    if (verifiedAt === undefined || !rampEnd(this.#ramp, verifiedAt, now)) return
    const unknown = await unknownOf(on, newcomer)
    if (unknown.length === 0) return
    const [counted] = await on.query(COUNTED, organizationId)
    if (counted) this.#judge(verifiedAt, counted.recipients + unknown.length, now)
  }

  /**
   * Counts the new recipients of a message, in the transaction that accepts it. Others of the organization wait for it.
   * @throws ApiError 429: the transaction must not commit.
   */
  async count(tx: Tx, newcomer: Newcomer, now: Date): Promise<void> {
    const { organizationId, verifiedAt } = newcomer
    const end = rampEnd(this.#ramp, verifiedAt, now)
    if (verifiedAt === undefined || !end) return
    const unknown = await unknownOf(tx, newcomer)
    if (unknown.length === 0) return
    const [held] = await tx.query(HOLD, organizationId, end.toISOString())
    if (held?.is_new) await this.#begin(tx, organizationId, verifiedAt)
    const added = await tx.query(ADD, organizationId, unknown)
    const [counted] = await tx.query(COUNT, organizationId, added.length)
    if (added.length > 0) this.#judge(verifiedAt, counted?.recipients ?? added.length, now)
  }

  /** Whom the organization has written to so far: before it was verified, or before there was a ramp. */
  async #begin(tx: Tx, organizationId: string, verifiedAt: Date): Promise<void> {
    const history = await tx.query(HISTORY, organizationId, verifiedAt.toISOString())
    const isNew = new Map<string, boolean>()
    for (const { recipient, is_new } of history) {
      const address = normalizeAddress(recipient)
      isNew.set(address, is_new && isNew.get(address) !== false)
    }
    const hashes = [...isNew.keys()].map((address) => hashOf(organizationId, address))
    await tx.query(ADD, organizationId, hashes)
    await tx.query(COUNT, organizationId, [...isNew.values()].filter(Boolean).length)
  }

  #judge(verifiedAt: Date, recipients: number, now: Date): void {
    const exceeded = exceededStep(this.#ramp, verifiedAt, recipients, now)
    if (exceeded) throw newRecipientsExceeded(exceeded, now)
  }
}

async function unknownOf(on: Queryable, { organizationId, addresses }: Newcomer): Promise<Buffer[]> {
  const hashes = addresses.map((address) => hashOf(organizationId, address))
  const known = new Set((await on.query(KNOWN, organizationId, hashes)).map(({ hash }) => hash.toString('hex')))
  return hashes.filter((hash) => !known.has(hash.toString('hex')))
}

function hashOf(organizationId: string, address: string): Buffer {
  return createHash('sha256').update(`${organizationId} ${address}`).digest()
}
