import type { SendingRight } from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import { normalizeAddress } from '@restante/mime'
import { ApiError } from '@restante/service/errors'

/** A recipient that cannot be mailed, and why. */
export interface RefusedRecipient {
  readonly address: string
  readonly reason: string
}

const NOT_ALLOWED = 'not in allow list'

/**
 * The refused recipients (mail 12.4, step 1): those that an unverified organization may not mail, then those that the
 * service itself has suppressed.
 * @param recipients normalized addresses.
 * @param suppressed normalized address to the reason of its entry.
 */
export function refusedRecipients(
  recipients: readonly string[],
  sending: SendingRight,
  suppressed: ReadonlyMap<string, string>,
): RefusedRecipient[] {
  return recipients.flatMap((address) => {
    const reason = mayMail(sending, address) ? suppressed.get(address) : NOT_ALLOWED
    return reason === undefined ? [] : [{ address, reason }]
  })
}

function mayMail(sending: SendingRight, address: string): boolean {
  if (sending === 'none') return false
  if (!sending.startsWith('only:')) return true
  return normalizeAddress(sending.slice('only:'.length)) === address
}

/** The refusal of the whole send, which names each of them (mail 8.4 step 9). */
export function recipientsBlocked(refused: readonly RefusedRecipient[]): ApiError {
  const list = refused.map(({ address, reason }) => `${address} (${reason})`).join(', ')
  const fixes = [
    ...(refused.some(({ reason }) => reason === NOT_ALLOWED)
      ? ["Verify the agent's human with POST /v0/agent/verify; until then only the human's own address can be mailed."]
      : []),
    ...(refused.some(({ reason }) => reason !== NOT_ALLOWED)
      ? ['Entries made by bounces and complaints cannot be deleted; omit these recipients.']
      : []),
  ]
  return new ApiError('message_rejected', {
    message: `Message rejected: Recipient(s) blocked: ${list}`,
    fix: fixes.join(' '),
  })
}

export function suspended(): ApiError {
  return new ApiError('message_rejected', {
    message: 'Message rejected: The organization is suspended from sending',
    fix: 'Ask the operator of this installation.',
  })
}

export function noRecipients(): ApiError {
  return new ApiError('unprocessable', {
    message: 'The message has no recipient',
    fix: 'Give at least one address in to, cc or bcc.',
  })
}

export function noAuthor(): ApiError {
  return new ApiError('unprocessable', {
    message: 'The message names no single sender who could be answered',
    fix: 'Reply with the recipients in to.',
  })
}

export function tooManyRecipients(): ApiError {
  const message = `At most ${LIMITS.send.recipients} recipients in to, cc and bcc together`
  return new ApiError('validation_error', { errors: [{ path: ['to'], message }] })
}

export function trackingNotPossible(): ApiError {
  return new ApiError('unprocessable', {
    message: 'Open tracking needs an inbox on a custom domain that has tracking enabled',
    fix: 'Omit track_opens.',
  })
}

/** @param now determines the time until the next UTC midnight, when the count starts again (identity 5.4). */
export function dailyLimitExceeded(now: Date): ApiError {
  const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  return new ApiError('rate_limit_exceeded', {
    message: 'Daily send limit exceeded',
    fix: "Verify the agent's human with POST /v0/agent/verify, or wait as long as Retry-After says.",
    retryAfter: Math.max(1, Math.ceil((midnight - now.getTime()) / 1_000)),
    details: { resource: 'recipients', limit: LIMITS.signUp.mailsPerDay, window: 'day' },
  })
}
