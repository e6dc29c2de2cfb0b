import { SharedEffect, type Timers } from '@restante/jobs'
import type { Outbox } from '@restante/messaging'
import type { Transactional, Tx } from '@restante/service/database'
import { nextBoundary } from '../dates/index.ts'
import { tellBoundary } from '../events/index.ts'
import type { CalendarTimers } from '../timers/kinds.ts'
import { loadDetails } from './details.ts'
import { type Due, dueOf } from './due.ts'
import { planOf } from './plan.ts'
import { type LockedEvent, lockEvent, record } from './store.ts'
import { boundariesSkipped, boundaryLag } from './telemetry.ts'

/** Attempts at once; what is read of events is held by two of them. Those that end together share transactions: thousands of events may start at the same minute. */
const CONCURRENCY = 32
const TOGETHER = { maxItems: 16, concurrency: 2 }
const ATTEMPT_MS = 30_000
const RETRY_MS = 5_000
/** After so long an event that a change holds is looked at again. */
const LOCKED_MS = 100

export interface BoundariesOptions {
  readonly db: Transactional
  readonly timers: Timers<CalendarTimers>
  readonly outbox: Outbox
}

interface Attempt {
  readonly eventId: string
  readonly postpone: (tx: Tx, dueAt: Date) => Promise<void>
  /** Told in the transaction that was tried last. */
  told?: { readonly due: Due; readonly now: Date } | undefined
}

/**
 * Registers the handler that tells when dates start and end (calendar 17), before the timers start. An event has one timer, due
 * at its next start or end. An attempt records what has happened and adds the events in one transaction, under the lock of
 * the event: so each is told once, and a change of the event comes either before or after.
 */
export function tellBoundaries({ db, timers, outbox }: BoundariesOptions): void {
  const retry = () => new Date(Date.now() + RETRY_MS)
  const options = { concurrency: CONCURRENCY, attemptMs: ATTEMPT_MS, retry }
  const effect = new SharedEffect<Attempt>(
    db,
    async (tx, attempts) => {
      for (const attempt of attempts) await conclude(tx, outbox, attempt)
    },
    TOGETHER,
  )
  timers.work('boundary', options, async ({ timer, share, postpone }) => {
    const attempt: Attempt = { eventId: timer.payload.event_id, postpone }
    await share(effect, attempt)
    if (attempt.told) observe(attempt.told.due, attempt.told.now)
  })
}

async function conclude(tx: Tx, outbox: Outbox, attempt: Attempt): Promise<void> {
  attempt.told = undefined
  const found = await lockEvent(tx, attempt.eventId)
  if (found === undefined) return
  const now = new Date()
  if (found === 'locked') return attempt.postpone(tx, new Date(now.getTime() + LOCKED_MS))
  const { due, next } = await tell(tx, outbox, found, now)
  if (next !== undefined) await attempt.postpone(tx, next)
  attempt.told = { due, now }
}

/** Records and tells what is due. @returns it, and when something is due next. */
async function tell(
  tx: Tx,
  outbox: Outbox,
  { state: found, address, hasAccess }: LockedEvent,
  now: Date,
): Promise<{ due: Due; next: Date | undefined }> {
  const { state, due } = await loadDetails(tx, found, dueOf(found, now))
  const { boundaries, begun, ended, after } = planOf(state, due, { address, hasAccess, now })
  const event = due.more ? state.event : { ...state.event, seen_until: now }
  await record(tx, event, { begun, ended, seenUntil: event.seen_until })
  for (const { type, ...told } of boundaries) await tellBoundary(tx, outbox, type, { ...told, event, address, at: now })
  return { due, next: due.more ? now : nextBoundary({ ...after, event }, now) }
}

function observe({ started, ended, skipped }: Due, now: Date): void {
  const lag = (at: Date) => Math.max(0, now.getTime() - at.getTime()) / 1_000
  for (const { start_at } of started) boundaryLag.observe({ boundary: 'start' }, lag(start_at))
  for (const { end_at } of ended) boundaryLag.observe({ boundary: 'end' }, lag(end_at))
  boundariesSkipped.inc(skipped.length)
}
