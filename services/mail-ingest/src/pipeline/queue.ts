import { type Queryable, sql } from '@restante/service'
import { type Envelope, envelope as envelopeSchema } from '../inbound/envelope.ts'
import type { InboxScope } from '../inbound/store.ts'

/** A row of the queue that this process may work on until its lease ends. */
export interface LeasedMail {
  readonly id: string
  readonly leaseId: string
  readonly target:
    | { readonly kind: 'mail'; readonly inbox: InboxScope }
    | { readonly kind: 'report'; readonly deliveryId: string }
  readonly recipient: string
  readonly blob: string
  readonly size: number
  readonly envelope: Envelope
  readonly receivedAt: Date
  /** This attempt included. */
  readonly attempts: number
}

interface Row {
  readonly id: string
  readonly lane: string
  readonly kind: string
  readonly organization_id: string | null
  readonly pod_id: string | null
  readonly inbox_uid: string | null
  readonly inbox_address: string | null
  readonly recipient: string
  readonly blob: string
  readonly size: number
  readonly envelope: unknown
  readonly received_at: Date
  readonly attempts: number
}

/** Longer than any attempt: sender authentication, parsing and the transaction are bounded far below. */
const LEASE_SECONDS = 90

// The head of each lane by a loose index scan, so that a flood into one inbox costs the others nothing. A lane with a
// lease is left alone even when a row with a smaller position was committed after the lease was taken. The head's own
// lease is asked for by itself: when another worker took it since this statement began, PostgreSQL asks again about the
// locked row, but not about those that it was compared with.
const LEASE = sql<Row, [leaseId: string, rows: number]>(`
with recursive head as (
  (select lane, position from inbound order by lane, position limit 1)
  union all
  select next.lane, next.position
    from head, lateral (select lane, position from inbound where lane > head.lane order by lane, position limit 1) as next
), due as (
  select inbound.id
    from head join inbound using (lane, position)
   where inbound.due_at <= now()
     and (inbound.leased_until is null or inbound.leased_until <= now())
     and not exists (select from inbound as leased where leased.lane = head.lane and leased.leased_until > now())
   order by inbound.position
   limit $2
     for update of inbound skip locked
)
update inbound
   set lease_id = $1, leased_until = now() + interval '${LEASE_SECONDS} seconds', attempts = attempts + 1
  from due
 where inbound.id = due.id
returning inbound.id, lane, kind, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size, envelope,
          received_at, attempts`)

const FINISH = sql<{ id: string }, [id: string, leaseId: string]>(
  'delete from inbound where id = $1 and lease_id = $2 returning id',
)

const RELEASE = sql<never, [id: string, leaseId: string, uncount: number, waitMs: number]>(`
update inbound
   set lease_id = null, leased_until = null, attempts = attempts - $3, due_at = now() + make_interval(secs => $4 / 1000.0)
 where id = $1 and lease_id = $2`)

/** The lease ended before the work did; whoever holds the row now does it. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

export const queue = {
  /** Takes up to `rows` mails, each the oldest of its lane, and counts the attempt. */
  async lease(db: Queryable, leaseId: string, rows: number): Promise<LeasedMail[]> {
    return (await db.query(LEASE, leaseId, rows)).map((row) => leasedMail(row, leaseId))
  },

  /** Removes a mail in the transaction of its effect. @throws LeaseLost */
  async finish(tx: Queryable, mail: LeasedMail): Promise<void> {
    const finished = await tx.query(FINISH, mail.id, mail.leaseId)
    if (finished.length === 0) throw new LeaseLost(`another worker has taken ${mail.id}`)
  },

  /** Gives a mail back after a failure. @param counts whether the mail may be at fault. */
  async release(db: Queryable, mail: LeasedMail, counts: boolean, waitMs: number): Promise<void> {
    await db.query(RELEASE, mail.id, mail.leaseId, counts ? 0 : 1, waitMs)
  },
}

function leasedMail(row: Row, leaseId: string): LeasedMail {
  return {
    id: row.id,
    leaseId,
    target: targetOf(row),
    recipient: row.recipient,
    blob: row.blob,
    size: row.size,
    envelope: envelopeSchema.parse(row.envelope),
    receivedAt: row.received_at,
    attempts: row.attempts,
  }
}

function targetOf(row: Row): LeasedMail['target'] {
  const { organization_id, pod_id, inbox_uid, inbox_address: address } = row
  if (organization_id === null || pod_id === null || inbox_uid === null || address === null)
    return { kind: 'report', deliveryId: row.lane }
  return { kind: 'mail', inbox: { organization_id, pod_id, inbox_uid, address } }
}
