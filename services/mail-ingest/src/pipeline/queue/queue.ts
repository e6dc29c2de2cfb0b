import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sqlUnprepared } from '@restante/service/database'
import { type Envelope, envelope as envelopeSchema } from '../../inbound/envelope.ts'
import type { InboxScope } from '../../inbound/store.ts'
import { type Waited, waited as waitedSchema } from '../../waiting/waited.ts'

/** A row of the queue that this process may work on until its lease ends. */
export interface LeasedMail {
  readonly id: string
  readonly lane: string
  readonly leaseId: string
  readonly target:
    | { readonly kind: 'mail'; readonly inbox: InboxScope }
    | { readonly kind: 'report'; readonly deliveryId: string }
    /** A registered address of complaints, which names no delivery. */
    | { readonly kind: 'complaint' }
    /** `dmarc` at a custom domain. */
    | { readonly kind: 'dmarc' }
    /** `postmaster` or `abuse` of the installation. */
    | { readonly kind: 'operator' }
  readonly recipient: string
  readonly blob: string
  readonly size: number
  readonly envelope: Envelope
  readonly receivedAt: Date
  /** Including this attempt. */
  readonly attempts: number
  /** Its first attempt took too long: it is retried in the slow lane, alone. */
  readonly slow: boolean
  /** It has held up its inbox in the slow lane for too long: it is stored unparsed. */
  readonly overdue: boolean
  /**
   * The lease of its previous worker ran out: that process probably died, and the mail may have caused it. This attempt
   * is not counted yet.
   */
  readonly orphaned: boolean
  /** Whether any list may apply to it: its organization has entries, as far as the projection knew when it was taken. */
  readonly listed: boolean
  /** Of a mail that waited for DNS. */
  readonly waited?: Waited
}

interface Row {
  readonly id: string
  readonly lane: string
  readonly position: string
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
  readonly slow: boolean
  readonly overdue: boolean
  readonly orphaned: boolean
  readonly listed: boolean
  readonly waited: unknown
}

/** The mails of a dead process are taken over after this; live ones renew (`Leases`). */
const LEASE = `interval '12 seconds'`
/** Most mails of one inbox's queue that are taken at once. */
const RUN = 16
/**
 * Size limit for the mails after the first of a run: they are in memory together, and are orphaned together when the
 * process dies.
 */
const FOLLOWING_BYTES = 256 * 1024

const OVERDUE = `coalesce(inbound.slow and inbound.slow_since <= now() - interval '${LIMITS.inbound.slowLane / 1_000} seconds', false)`

/** Its column has whole milliseconds, so that what is due now may seem to be due half a millisecond later. */
const IS_DUE = `due_at <= now() + interval '1 millisecond'`

const dueHeads = (which: string, order: string, limit: string): string => `
  select inbound.id, inbound.lane, inbound.position, inbound.attempts, inbound.slow, inbound.leased_until is not null as orphaned
    from head join inbound using (lane, position)
   where ${which}
     and inbound.${IS_DUE}
     and (inbound.leased_until is null or inbound.leased_until <= now())
     and not exists (select from inbound as leased where leased.lane = head.lane and leased.leased_until > now())
   order by ${order}
   limit ${limit}
     for update of inbound skip locked`

const ROTATION = `coalesce(array_position($4::uuid[], inbound.organization_id), 0),
            coalesce(array_position($5::uuid[], inbound.lane), 0), inbound.position`

// `head` is the first row of each lane (the queue of an inbox), found by a loose index scan, so that a flood into one
// inbox costs the others nothing. A lane with a lease is skipped, even when a row with a smaller position was committed
// after the lease was taken. The lease of the head itself is a separate condition: if another worker took it after this
// statement began, PostgreSQL rechecks the locked row, but not the rows of the subquery. The worker that gets the head
// gets the lane. Small mails after the head are taken with it, up to the first that was tried before: that one may kill
// the process, and would orphan the others with it. Slow heads are taken in rotation of their organizations and lanes:
// those that were not served recently come first.
const TAKE = sqlUnprepared<
  Row,
  [leaseId: string, lanes: number, slowLanes: number, organizations: readonly string[], servedLanes: readonly string[]]
>(`
with recursive head as (
  (select lane, position from inbound order by lane, position limit 1)
  union all
  select next.lane, next.position
    from head, lateral (select lane, position from inbound where lane > head.lane order by lane, position limit 1) as next
), due_soon as (${dueHeads(`(not inbound.slow or ${OVERDUE})`, 'inbound.position', '$2')}
), due_slow as (${dueHeads(`inbound.slow and not ${OVERDUE}`, ROTATION, '$3')}
), due as (
  select * from due_soon union all select * from due_slow
), run as (
  select id, orphaned from due
  union all
  select follower.id, false
    from due, lateral (
      select id, bool_and(attempts = 0 and not slow and ${IS_DUE}) over earlier and sum(size) over earlier <= ${FOLLOWING_BYTES} as comes
        from (select id, position, attempts, slow, due_at, size from inbound
               where lane = due.lane and position > due.position order by position limit ${RUN - 1}) as next
      window earlier as (order by position)) as follower
   where due.attempts = 0 and not due.slow and not due.orphaned and follower.comes
)
update inbound
   set lease_id = $1, leased_until = now() + ${LEASE}, attempts = attempts + (not orphaned)::int
  from run
 where inbound.id = run.id
returning inbound.id, lane, position, kind, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size,
          envelope, received_at, waited, attempts + orphaned::int as attempts, slow, ${OVERDUE} as overdue, orphaned,
          exists(select from list_entries where organization_id = inbound.organization_id and deleted_at is null) as listed`)

const COUNT = sqlUnprepared<{ id: string }, [id: string, leaseId: string]>(
  'update inbound set attempts = attempts + 1 where id = $1 and lease_id = $2 returning id',
)

// Rows that are being finished are locked. They need no lease any more, so they are skipped.
const RENEW = sqlUnprepared<never, [ids: readonly string[], leaseIds: readonly string[]]>(`
with held as (
  select inbound.id
    from unnest($1::uuid[], $2::uuid[]) as held(id, lease_id) join inbound using (id, lease_id)
     for update of inbound skip locked
)
update inbound set leased_until = now() + ${LEASE} from held where inbound.id = held.id`)

const FINISH = sqlUnprepared<{ id: string }, [ids: readonly string[], leaseIds: readonly string[]]>(`
delete from inbound using unnest($1::uuid[], $2::uuid[]) as done(id, lease_id)
 where inbound.id = done.id and inbound.lease_id = done.lease_id
returning inbound.id`)

const RELEASE = sqlUnprepared<
  never,
  [ids: readonly string[], leaseIds: readonly string[], uncount: number, waitMs: number]
>(`
update inbound
   set lease_id = null, leased_until = null, attempts = attempts - $3, due_at = now() + make_interval(secs => $4 / 1000.0)
  from unnest($1::uuid[], $2::uuid[]) as held(id, lease_id)
 where inbound.id = held.id and inbound.lease_id = held.lease_id`)

// The time in the slow lane also begins for the mails after it in its lane. If it were counted for each mail
// separately, many slow mails would hold up a lane for many times the limit.
const MOVE_TO_SLOW_LANE = sqlUnprepared<never, [id: string, leaseId: string]>(`
with moved as (
  update inbound
     set lease_id = null, leased_until = null, attempts = attempts - 1, due_at = now(), slow = true,
         slow_since = coalesce(slow_since, now())
   where id = $1 and lease_id = $2
  returning lane, position)
update inbound set slow_since = now()
  from moved
 where inbound.lane = moved.lane and inbound.position > moved.position and inbound.slow_since is null`)

/** The lease ran out before the work was done. The current holder of the lease does the work. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}

type Held = Pick<LeasedMail, 'id' | 'leaseId'>
const columns = (mails: readonly Held[]) => [mails.map(({ id }) => id), mails.map(({ leaseId }) => leaseId)] as const

/** Owners of slow mail that was taken before, the latest last. */
export interface ServedOwners {
  readonly organizations: readonly string[]
  readonly lanes: readonly string[]
}

const NONE_SERVED: ServedOwners = { organizations: [], lanes: [] }

export const queue = {
  /**
   * Takes the oldest mails of up to `lanes` lanes, and of up to `slowLanes` lanes that begin with a slow mail. Counts
   * an attempt for each mail that is not orphaned. An overdue slow mail needs no slow lane.
   * @param served owners whose slow mail comes after that of others
   * @returns one run per lane: mails to be processed in this order, exclusively.
   */
  async take(
    db: Queryable,
    leaseId: string,
    lanes: number,
    slowLanes = 0,
    served = NONE_SERVED,
  ): Promise<LeasedMail[][]> {
    const rows = await db.query(TAKE, leaseId, lanes, slowLanes, served.organizations, served.lanes)
    const inOrder = rows.sort((a, b) => Number(BigInt(a.position) - BigInt(b.position)))
    return [...Map.groupBy(inOrder, ({ lane }) => lane).values()].map((run) =>
      run.map((row) => leasedMail(row, leaseId)),
    )
  },

  /** Counts the attempt of an orphaned mail, which begins now. @returns false when another worker has taken it. */
  async count(db: Queryable, { id, leaseId }: Held): Promise<boolean> {
    return (await db.query(COUNT, id, leaseId)).length > 0
  },

  /** Extends leases that are still valid. */
  async renew(db: Queryable, mails: readonly Held[]): Promise<void> {
    await db.query(RENEW, ...columns(mails))
  },

  /** Removes mails in the transaction of their effects. @throws LeaseLostError */
  async finish(tx: Queryable, mails: readonly LeasedMail[]): Promise<void> {
    const finished = new Set((await tx.query(FINISH, ...columns(mails))).map(({ id }) => id))
    const lost = mails.find(({ id }) => !finished.has(id))
    if (lost) throw new LeaseLostError(`another worker has taken ${lost.id}`)
  },

  /**
   * Returns mails to the queue. @param counts whether the attempt counts, because the mails may have caused the
   * failure.
   */
  async release(db: Queryable, mails: readonly LeasedMail[], counts: boolean, waitMs: number): Promise<void> {
    if (mails.length > 0) await db.query(RELEASE, ...columns(mails), counts ? 0 : 1, waitMs)
  },

  /** Returns a mail to the queue for the slow lane; the attempt does not count. */
  async moveToSlowLane(db: Queryable, { id, leaseId }: Held): Promise<void> {
    await db.query(MOVE_TO_SLOW_LANE, id, leaseId)
  },
}

function leasedMail(row: Row, leaseId: string): LeasedMail {
  return {
    id: row.id,
    lane: row.lane,
    leaseId,
    target: targetOf(row),
    recipient: row.recipient,
    blob: row.blob,
    size: row.size,
    envelope: envelopeSchema.parse(row.envelope),
    receivedAt: row.received_at,
    attempts: row.attempts,
    slow: row.slow && !row.overdue,
    overdue: row.overdue,
    orphaned: row.orphaned,
    listed: row.listed,
    ...(row.waited !== null && { waited: waitedSchema.parse(row.waited) }),
  }
}

function targetOf(row: Row): LeasedMail['target'] {
  const { organization_id, pod_id, inbox_uid, inbox_address: address } = row
  if (organization_id === null || pod_id === null || inbox_uid === null || address === null)
    return row.kind === 'complaint' || row.kind === 'dmarc' || row.kind === 'operator'
      ? { kind: row.kind }
      : { kind: 'report', deliveryId: row.lane }
  return { kind: 'mail', inbox: { organization_id, pod_id, inbox_uid, address } }
}
