import { SharedEffect, type SharedEffectOptions, type Timer, type Timers } from '@restante/jobs'
import type { Database } from '@restante/service/database'
import type { DeliveryTarget, SendTimers } from '../../timers/kinds.ts'

/** A timer of a suspended delivery, of the kind for destinations that could not be reached. */
export type SuspendedTimer = Pick<Timer<DeliveryTarget>, 'key' | 'dueAt' | 'payload' | 'share'>
export type Suspensions = SharedEffect<SuspendedTimer>

/** Suspends deliveries of the same time in one transaction. Nothing but their timers changes. */
export function sharedSuspensions(
  { db, timers }: { readonly db: Database; readonly timers: Timers<SendTimers> },
  options: SharedEffectOptions,
): Suspensions {
  const suspend = (timersOf: readonly SuspendedTimer[]) =>
    timersOf.map((timer) => ({ kind: 'delivery-slow' as const, ...timer }))
  return new SharedEffect(db, (tx, suspended) => timers.scheduleAll(tx, suspend(suspended)), options)
}

/**
 * Since when a delivery is suspended; undefined when it is due for another reason, such as its next retry or the end of
 * a hold: what was learnt about its destination before says nothing then.
 */
export function suspendedSince({ dueAt, payload: { suspended } }: Timer<DeliveryTarget>): number | undefined {
  return suspended && Date.parse(suspended.until) === dueAt.getTime() ? Date.parse(suspended.since) : undefined
}

/** The timer with which a suspended delivery comes again. */
export function suspendedTimer(timer: Timer<DeliveryTarget>, until: Date): SuspendedTimer {
  const { key, payload, share } = timer
  const since = new Date(suspendedSince(timer) ?? Date.now())
  const suspended = { since: since.toISOString(), until: until.toISOString() }
  return { key, dueAt: until, share, payload: { ...payload, suspended } }
}
