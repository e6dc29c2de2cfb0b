import { type BounceClass, classifyBounce } from '@restante/mime'
import type { Outcome, Verdict } from './outcome.ts'
import { type RetryPolicy, retryAt } from './retry-policy.ts'

/**
 * States of a delivery. Only attempts move it out of `queued`, `handing_over` and `deferred`; a later report may still
 * turn `delivered` into `bounced`.
 *
 * `handing_over` is committed before a server is contacted. If the process dies in that state, the server may or may
 * not have taken the message, and the next attempt may deliver it again, under the same Message-ID. That is the only
 * window in which a recipient can get a mail twice; losing it is not possible.
 */
export const OPEN_STATES = ['queued', 'handing_over', 'deferred'] as const
export const FINAL_STATES = ['delivered', 'bounced', 'rejected'] as const
export type DeliveryState = (typeof OPEN_STATES)[number] | (typeof FINAL_STATES)[number]

/** A delivery whose attempt has begun. */
export interface BegunDelivery {
  readonly id: string
  readonly recipient: string
  /** Including this attempt. */
  readonly attempts: number
  /** Whether its delay was announced. */
  readonly delayed: boolean
  /** An address of the installation. */
  readonly inside: boolean
}

/** A delivery that is not finished yet. */
export interface OpenDelivery extends BegunDelivery {
  readonly state: DeliveryState
}

/** What the outcome of an attempt means for its delivery. */
export type Decision =
  | { readonly state: 'delivered'; readonly verdict: Verdict }
  | { readonly state: 'bounced'; readonly verdict: Verdict; readonly bounce: BounceClass }
  | {
      readonly state: 'deferred'
      readonly verdict: Verdict
      readonly retryAt: Date
      /** The first retry failed too, and the delay was not announced yet (mail 15.1). */
      readonly announceDelay: boolean
    }
  /** A failure of this installation makes delivery impossible; the address is not at fault. */
  | { readonly state: 'rejected'; readonly verdict: Verdict }

/** A delivery and the decision about it. */
export interface Decided {
  readonly delivery: BegunDelivery
  readonly decision: Decision
}

/** What is refused before the recipient is named is refused to the sender (events 1.3). */
const SENDER_REFUSED: BounceClass = { type: 'Transient', subType: 'ContentRejected', suppress: 'never' }

/** Failures of this installation have no class of their own; the table ends with this row (events 1.3). */
export const UNDETERMINED: BounceClass = { type: 'Undetermined', subType: 'Undetermined', suppress: 'never' }

/** The rule of mail 15.1: delivered, refused for good, deferred, or given up. */
export function decide(
  delivery: Pick<BegunDelivery, 'recipient' | 'attempts' | 'delayed'>,
  outcome: Outcome,
  clock: { readonly acceptedAt: Date; readonly now: Date; readonly random: number },
  policy: RetryPolicy,
): Decision {
  const { verdict } = outcome
  switch (outcome.kind) {
    case 'delivered':
      return { state: 'delivered', verdict }
    case 'refused':
      return bounced(verdict, delivery.recipient)
    case 'deferred': {
      const next = retryAt(policy, delivery.attempts, clock.acceptedAt, clock.now, clock.random)
      if (next === undefined) return bounced(verdict, delivery.recipient)
      return {
        state: 'deferred',
        verdict,
        retryAt: next,
        announceDelay: delivery.attempts > 1 && !delivery.delayed,
      }
    }
  }
}

function bounced(verdict: Verdict, recipient: string): Decision {
  const { status, text: diagnostic } = verdict
  const bounce = classifyBounce({ status, diagnostic, recipient, exhausted: true }) ?? UNDETERMINED
  const isOfSender = verdict.isAboutSender === true && bounce.suppress !== 'never'
  return { state: 'bounced', verdict, bounce: isOfSender ? SENDER_REFUSED : bounce }
}
