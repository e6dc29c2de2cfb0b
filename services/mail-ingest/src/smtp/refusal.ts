import { isInfrastructureError } from '@restante/service/errors'
import { LoopDetectedError } from '../inbound/loops.ts'
import { MailInterruptedError, MailTooLargeError } from './protocol/content.ts'
import { BROKEN_MAIL } from './protocol/guarded-server.ts'
import { SmugglingAttemptError } from './protocol/line-guard.ts'

/**
 * A reply to the client other than success. smtp-server adds the enhanced status code that belongs to the number,
 * unless the text begins with one.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly responseCode: number
  /** For metrics. */
  readonly outcome: string

  constructor(responseCode: number, text: string, outcome = 'refused') {
    super(text)
    this.responseCode = responseCode
    this.outcome = outcome
  }
}

export function noSuchMailbox(): Refusal {
  return new Refusal(550, 'No such mailbox here')
}

/** The domain of a recipient receives no mail here, whatever stands before the `@`. */
export function noMailAtDomain(): Refusal {
  return new Refusal(550, '5.1.2 This domain receives no mail here')
}

/**
 * The reply to a mail that was not accepted. A failure that the mail has not caused gets a 451, so that the client
 * retries.
 */
export function refusalFor(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof SmugglingAttemptError) {
    return new Refusal(
      BROKEN_MAIL,
      `Refused for ${error.message}: lines must end with CR LF (RFC 5321 2.3.8)`,
      'smuggling',
    )
  }
  if (error instanceof LoopDetectedError) return new Refusal(554, `5.4.6 Mail loop: ${error.message}`, 'loop')
  if (error instanceof MailTooLargeError) return new Refusal(552, 'Mail too large', 'too_large')
  if (error instanceof MailInterruptedError) return new Refusal(451, 'Mail broke off, try again later', 'broken_off')
  const outcome = isInfrastructureError(error) ? 'deferred' : 'failed'
  return new Refusal(451, 'Mail cannot be stored now, try again later', outcome)
}
