import { backoff } from '@restante/service/concurrency'

/** An order of the last week. */
export interface PastOrder {
  readonly started_at: Date
  /** `issued`, the reason of a failure, or null while it runs or when its process has died. */
  readonly outcome: string | null
  /** When the authority allows the next one. */
  readonly retry_at: Date | null
}

/** The outcome of an order that gave a certificate. */
export const ISSUED = 'issued'

const HOUR = 60 * 60_000
export const WEEK = 7 * 24 * HOUR
/** After failures in a row. */
const FAILURES = { firstMs: 60_000, longestMs: 24 * HOUR }
/** What public authorities allow for one host: failures an hour, and certificates a week. */
const MOST_FAILED = 5
const MOST_ISSUED = 5

/**
 * When the next certificate of a host may be ordered; not after `now` when it may be at once. An order that has no
 * outcome counts as failed: else a process that dies in each of its orders would order without end.
 * @param orders of the last week, the latest first.
 */
export function nextOrderAt(orders: readonly PastOrder[]): Date {
  const failed = orders.filter(({ outcome }) => outcome !== ISSUED)
  const issued = orders.filter(({ outcome }) => outcome === ISSUED)
  const sinceIssued = orders.findIndex(({ outcome }) => outcome === ISSUED)
  const inRow = sinceIssued < 0 ? orders.length : sinceIssued
  const latest = orders[0]
  const times = [
    latest !== undefined && inRow > 0 ? latest.started_at.getTime() + backoff(inRow, FAILURES) : 0,
    (failed[MOST_FAILED - 1]?.started_at.getTime() ?? -HOUR) + HOUR,
    (issued[MOST_ISSUED - 1]?.started_at.getTime() ?? -WEEK) + WEEK,
    latest?.retry_at?.getTime() ?? 0,
  ]
  return new Date(Math.max(...times))
}

/** Waiting hosts go on one after the other, instead of all when there is room for one. */
const SPREAD = HOUR / 2

/**
 * When there is room for another order of the installation.
 * @param first the earliest of the latest orders that fill an hour, of all hosts; undefined while they do not.
 */
export function roomAt(first: Date | undefined, random = Math.random()): Date | undefined {
  return first && new Date(first.getTime() + HOUR + SPREAD * random)
}

/** How much of its lifetime a certificate has left when it is renewed, and by how much that varies. */
const LEFT = 1 / 3
const JITTER = 1 / 30

/**
 * When a certificate is renewed: with a third of its lifetime left, and up to a thirtieth earlier, so that those issued
 * together are not renewed together.
 */
export function renewalAt(notBefore: Date, notAfter: Date, random = Math.random()): Date {
  const lifetime = notAfter.getTime() - notBefore.getTime()
  return new Date(notAfter.getTime() - lifetime * (LEFT + JITTER * random))
}

/** What is known of the tracking host of a name. */
export interface HostState {
  /** Registrations whose record is there, so that the authority can prove the host. */
  readonly wanting: number
  /** Registrations that have tracking switched on. */
  readonly keeping: number
  readonly certificate: { readonly not_after: Date; readonly renew_at: Date } | undefined
  /** Of the last week, the latest first. */
  readonly orders: readonly PastOrder[]
  /** When there is room for an order beside those of other hosts; undefined: now. */
  readonly roomAt: Date | undefined
}

/** What is to be done next about the certificate of a host. */
export type Step =
  | { readonly kind: 'order' }
  /** No registration needs it. */
  | { readonly kind: 'drop' }
  | { readonly kind: 'expire' }
  /** Nothing before `until`. */
  | { readonly kind: 'wait'; readonly until: Date }
  | { readonly kind: 'end' }

/** How soon a host whose record is missing is looked at again while its old certificate lasts. */
const RECORD_MS = 24 * HOUR

/** Decides the next step. Pure. */
export function nextStep({ wanting, keeping, certificate, orders, roomAt: room }: HostState, now: Date): Step {
  if (certificate === undefined && wanting === 0) return { kind: 'end' }
  if (certificate !== undefined && keeping === 0) return { kind: 'drop' }
  if (certificate !== undefined && certificate.not_after <= now) return { kind: 'expire' }
  if (certificate !== undefined && certificate.renew_at > now) return { kind: 'wait', until: certificate.renew_at }
  const next = wanting === 0 ? new Date(now.getTime() + RECORD_MS) : later(nextOrderAt(orders), room)
  if (next <= now) return { kind: 'order' }
  const end = certificate?.not_after
  return { kind: 'wait', until: end !== undefined && end < next ? end : next }
}

function later(one: Date, other: Date | undefined): Date {
  return other !== undefined && other > one ? other : one
}
