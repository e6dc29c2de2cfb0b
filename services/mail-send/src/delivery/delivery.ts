import { type BounceClass, classifyBounce } from '@restante/mime'
import { type RetryPolicy, retryAt } from './backoff.ts'
import type { Outcome, Verdict } from './verdict.ts'

/**
 * States of a delivery. It leaves `queued`, `handing_over` and `deferred` by attempts only; a report that comes later
 * may still turn `delivered` into `bounced`.
 *
 * `handing_over` is written before a server hears of the message. If the process dies in that state, the server may or
 * may not have taken it, and the next attempt may deliver it again, under the same Message-ID. That is the only window
 * in which a recipient can get a mail twice; losing it is not possible.
 */
export const OPEN_STATES = ['queued', 'handing_over', 'deferred'] as const
export const FINAL_STATES = ['delivered', 'bounced', 'rejected'] as const
export type DeliveryState = (typeof OPEN_STATES)[number] | (typeof FINAL_STATES)[number]

/** A delivery whose attempt has begun. */
export interface BegunDelivery {
  readonly id: string
  readonly recipient: string
  /** This one included. */
  readonly attempts: number
  /** Whether the world was told that it is late. */
  readonly delayed: boolean
}

/** What an attempt makes of a delivery. */
export type Settlement =
  | { readonly state: 'delivered'; readonly verdict: Verdict }
  | { readonly state: 'bounced'; readonly verdict: Verdict; readonly bounce: BounceClass }
  | {
      readonly state: 'deferred'
      readonly verdict: Verdict
      readonly retryAt: Date
      /** The first retry failed too, and nobody was told yet (mail 15.1). */
      readonly announceDelay: boolean
    }
  /** Something of our own makes delivery impossible; the address is not to blame. */
  | { readonly state: 'rejected'; readonly verdict: Verdict }

/** Nothing classifies a failure of our own making; its table ends with this row (events 1.3). */
export const UNDETERMINED: BounceClass = { type: 'Undetermined', subType: 'Undetermined', suppress: false }

/** The rule of mail 15.1: taken, refused for good, tried again later, or given up. */
export function settle(
  delivery: Pick<BegunDelivery, 'attempts' | 'delayed'>,
  outcome: Outcome,
  clock: { readonly acceptedAt: Date; readonly now: Date; readonly random: number },
  policy: RetryPolicy,
): Settlement {
  const { verdict } = outcome
  switch (outcome.kind) {
    case 'delivered':
      return { state: 'delivered', verdict }
    case 'refused':
      return bounced(verdict)
    case 'deferred': {
      const next = retryAt(policy, delivery.attempts, clock.acceptedAt, clock.now, clock.random)
      if (next === undefined) return bounced(verdict)
      return {
        state: 'deferred',
        verdict,
        retryAt: next,
        announceDelay: delivery.attempts > 1 && !delivery.delayed,
      }
    }
  }
}

function bounced(verdict: Verdict): Settlement {
  return { state: 'bounced', verdict, bounce: classifyBounce(verdict.status, undefined, true) ?? UNDETERMINED }
}
