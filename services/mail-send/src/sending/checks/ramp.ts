import type { SendLimit } from '@restante/contracts/access'

/** The recipients never written to before that an agent may mail until a time has passed since its human was verified. */
export type Ramp = readonly SendLimit[]

/** A step of a ramp that is exceeded. */
export interface ExceededStep extends SendLimit {
  readonly endsAt: Date
}

/** When the ramp of an organization ends; undefined: it has ended, or there is none. */
export function rampEnd(ramp: Ramp, verifiedAt: Date | undefined, now: Date): Date | undefined {
  if (verifiedAt === undefined || ramp.length === 0) return undefined
  const end = endOf(verifiedAt, Math.max(...ramp.map(({ window_seconds }) => window_seconds)))
  return end > now ? end : undefined
}

/**
 * The step that a number of new recipients exceeds. Of several it is the one that ends last, because a caller has to wait
 * for all of them.
 */
export function exceededStep(ramp: Ramp, verifiedAt: Date, recipients: number, now: Date): ExceededStep | undefined {
  return ramp
    .map((step) => ({ ...step, endsAt: endOf(verifiedAt, step.window_seconds) }))
    .filter((step) => step.endsAt > now && recipients > step.recipients)
    .sort((one, other) => other.window_seconds - one.window_seconds)[0]
}

function endOf(verifiedAt: Date, seconds: number): Date {
  return new Date(verifiedAt.getTime() + seconds * 1_000)
}
