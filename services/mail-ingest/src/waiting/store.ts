import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { SenderVerdict } from '../sender/authenticate-sender.ts'
import { ASKED_AGAIN_MS, mayWait, type Waited } from './waited.ts'

/** A mail of the queue, leased by the worker that moves it to the waiting table. */
export interface QueuedMail {
  readonly id: string
  readonly leaseId: string
  readonly waited?: Waited
}

/** A mail that waits, if there is room for it. */
export interface WaitingCandidate<M extends QueuedMail = QueuedMail> {
  readonly mail: M
  readonly inboxUid: string
  /** Domain of the author: its failures count together. */
  readonly domain: string
  readonly sender: SenderVerdict
}

/** A waiting mail for which DNS is to be queried again. */
export interface DueMail {
  readonly id: string
  readonly since: Date
  readonly times: number
  readonly domain: string
  readonly questions: unknown
}

const HOUR = `interval '${LIMITS.inbound.waiting.time / 1_000} seconds'`

// Only one transaction at a time counts and adds mails, so that the limits hold.
const LOCK = sql<never>(`select pg_advisory_xact_lock(hashtextextended('waiting mails', 0))`)

const COUNT = sql<{ inbox_uid: string | null; waiting: number }, [inboxUids: readonly string[]]>(`
select inbox_uid, count(*)::int as waiting from waiting_mails where inbox_uid = any($1) group by inbox_uid
union all
select null, count(*)::int from waiting_mails`)

const FAILED_FOR_LONG = sql<{ domain: string }, [domains: readonly string[]]>(`
select domain from failing_domains
 where domain = any($1) and since <= now() - ${HOUR} and seen_at > now() - ${HOUR}`)

const FAILED = sql<never, [domains: readonly string[]]>(`
insert into failing_domains (domain, since, seen_at)
select domain, now(), now() from (select distinct unnest($1::text[]) as domain) as failed
on conflict (domain) do update
   set since = case when failing_domains.seen_at > now() - ${HOUR} then failing_domains.since else now() end, seen_at = now()`)

const ADD = sql<never, [rows: string]>(`
insert into waiting_mails (id, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size, envelope,
                           received_at, since, times, due_at, domain, questions, verdict)
select id, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size, envelope,
       received_at, since, times, added.due_at, domain, questions, verdict
  from jsonb_to_recordset($1::jsonb)
       as added(id uuid, lease_id uuid, since timestamptz, times int, due_at timestamptz, domain text, questions jsonb, verdict jsonb)
  join inbound using (id, lease_id)`)

const DUE = sql<DueMail, [rows: number]>(`
select id, since, times, domain, questions from waiting_mails where due_at <= now() order by due_at limit $1`)

const POSTPONE = sql<never, [ids: readonly string[], times: readonly number[], dueAt: readonly string[]]>(`
update waiting_mails set times = waiting_mails.times + 1, due_at = later.due_at
  from unnest($1::uuid[], $2::int[], $3::timestamptz[]) as later(id, times, due_at)
 where waiting_mails.id = later.id and waiting_mails.times = later.times`)

const RETURNED = `insert into inbound (id, lane, kind, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size,
                     envelope, received_at, waited)
select id, inbox_uid, 'mail', organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size, envelope, received_at,
       jsonb_build_object('since', since, 'times', times + 1) || case when final then jsonb_build_object('verdict', verdict) else '{}' end
  from gone order by received_at`

const RETURN = sql<never, [ids: readonly string[], times: readonly number[], final: readonly boolean[]]>(`
with gone as (
  delete from waiting_mails using unnest($1::uuid[], $2::int[], $3::bool[]) as back(id, times, final)
   where waiting_mails.id = back.id and waiting_mails.times = back.times
  returning waiting_mails.*, final)
${RETURNED}`)

const RETURN_ALL = sql<{ id: string }, [inboxUid: string, rows: number]>(`
with gone as (
  delete from waiting_mails where id in (select id from waiting_mails where inbox_uid = $1 limit $2)
  returning *, true as final)
${RETURNED}
returning id`)

const STILL_FAILING = sql<never, [domains: readonly string[]]>(
  'update failing_domains set seen_at = now() where domain = any($1)',
)
const ANSWERED = sql<never, [domains: readonly string[]]>('delete from failing_domains where domain = any($1)')
const FAILING = sql<{ domain: string }>(
  `select domain from failing_domains where seen_at > now() - ${HOUR} limit 10000`,
)
const MEASURE = sql<{ waiting: number; seconds: number }>(`
select count(*)::int as waiting, coalesce(extract(epoch from now() - min(since)), 0)::float8 as seconds from waiting_mails`)

export const waitingMails = {
  /** Must be the first lock of a transaction that adds waiting mails or changes failing domains. */
  async lock(tx: Tx): Promise<void> {
    await tx.query(LOCK)
  },

  /**
   * Moves mails to the waiting table, as far as there is room (mail 13). The caller deletes their rows in the queue, in
   * the same transaction; the references to their bytes move with them.
   * @returns those that wait. The others are to be stored.
   */
  async admit<M extends QueuedMail>(tx: Tx, candidates: readonly WaitingCandidate<M>[], now: Date): Promise<Set<M>> {
    const domains = candidates.map(({ domain }) => domain)
    const counts = await tx.query(COUNT, [...new Set(candidates.map(({ inboxUid }) => inboxUid))])
    const waiting = new Map(counts.map(({ inbox_uid, waiting }) => [inbox_uid, waiting]))
    const failedForLong = new Set((await tx.query(FAILED_FOR_LONG, domains)).map(({ domain }) => domain))
    await tx.query(FAILED, domains)
    const admitted = candidates.filter(({ mail, inboxUid, domain }) => {
      const [ofInbox, all] = [waiting.get(inboxUid) ?? 0, waiting.get(null) ?? 0]
      const { perInbox, all: most } = LIMITS.inbound.waiting
      if (ofInbox >= perInbox || all >= most || failedForLong.has(domain) || !mayWait(mail.waited, now)) return false
      waiting.set(inboxUid, ofInbox + 1).set(null, all + 1)
      return true
    })
    await tx.query(ADD, JSON.stringify(admitted.map((one) => rowOf(one, now))))
    return new Set(admitted.map(({ mail }) => mail))
  },

  due: (db: Queryable, most: number): Promise<DueMail[]> => db.query(DUE, most),

  /** Lets mails wait for the next query, because DNS failed again. */
  async postpone(tx: Tx, mails: readonly DueMail[]): Promise<void> {
    const dueAt = mails.map(({ since, times }) => dueAfter(since, times + 1))
    await tx.query(POSTPONE, ...keysOf(mails), dueAt)
  },

  /** Returns mails to the queues of their inboxes. @param final those that are stored with the last verdict. */
  async giveBack(tx: Tx, mails: readonly DueMail[], final: ReadonlySet<DueMail>): Promise<void> {
    await tx.query(
      RETURN,
      ...keysOf(mails),
      mails.map((mail) => final.has(mail)),
    )
  },

  /**
   * Returns at most `most` mails of a deleted inbox to its queue, where they are discarded. @returns how many there
   * were.
   */
  async giveBackAll(tx: Tx, inboxUid: string, most: number): Promise<number> {
    return (await tx.query(RETURN_ALL, inboxUid, most)).length
  },

  /** @param answered domains whose DNS answers again. */
  async noteDomains(db: Queryable, failing: readonly string[], answered: readonly string[]): Promise<void> {
    if (failing.length > 0) await db.query(STILL_FAILING, failing)
    if (answered.length > 0) await db.query(ANSWERED, answered)
  },

  async failingDomains(db: Queryable): Promise<string[]> {
    return (await db.query(FAILING)).map(({ domain }) => domain)
  },

  async measure(db: Queryable): Promise<{ waiting: number; seconds: number }> {
    const [row] = await db.query(MEASURE)
    return row ?? { waiting: 0, seconds: 0 }
  },
}

const keysOf = (mails: readonly DueMail[]) => [mails.map(({ id }) => id), mails.map(({ times }) => times)] as const

function dueAfter(since: Date, times: number): string {
  const ms = ASKED_AGAIN_MS[times] ?? LIMITS.inbound.waiting.time
  return new Date(since.getTime() + ms).toISOString()
}

function rowOf({ mail, domain, sender }: WaitingCandidate, now: Date) {
  const { since, times } = mail.waited ?? { since: now, times: 0 }
  const { authentication, author, trace, unanswered } = sender
  return {
    id: mail.id,
    lease_id: mail.leaseId,
    since,
    times,
    due_at: dueAfter(since, times),
    domain,
    questions: unanswered,
    verdict: { authentication, author, trace },
  }
}
