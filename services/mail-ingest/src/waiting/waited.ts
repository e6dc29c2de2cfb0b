import { messageAuthentication } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import { z } from 'zod'
import type { SenderVerdict } from '../sender/authenticate-sender.ts'

/** The verdict with which a mail is stored when DNS never answered. */
export const keptVerdict = z.object({
  authentication: messageAuthentication,
  author: z.string().optional(),
  trace: z.string(),
})

/** What is kept about a mail's wait when it returns to the queue. */
export const waited = z.object({
  since: z.coerce.date(),
  /** How often DNS was queried again. */
  times: z.int(),
  /** If present, the mail does not wait again, and is stored with this verdict. */
  verdict: keptVerdict.optional(),
})
export type Waited = z.infer<typeof waited>

export const questions = z.array(z.object({ name: z.string(), type: z.string() }))

const SECOND = 1_000
const MINUTE = 60 * SECOND

/**
 * When DNS is queried again, counted from the first verdict: most failures end within seconds, the others within an
 * hour.
 */
export const ASKED_AGAIN_MS: readonly number[] = [
  30 * SECOND,
  3 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  LIMITS.inbound.waiting.time,
]

/** Whether a mail may wait (again). @param earlier what is kept of its wait so far, if it has waited. */
export function mayWait(earlier: Waited | undefined, now: Date): boolean {
  return (
    earlier === undefined ||
    (earlier.times < ASKED_AGAIN_MS.length && now.getTime() - earlier.since.getTime() < LIMITS.inbound.waiting.time)
  )
}

/** The verdict of a mail that waits no more. */
export function verdictOf(kept: z.infer<typeof keptVerdict>): SenderVerdict {
  const { authentication, author, trace } = kept
  return { authentication, author, trace, discard: false, passed: [], undecided: [], unanswered: [] }
}
