import type { Caller, CallerInbox, SendingRight } from '@restante/contracts/access'
import { LIMITS, TIERS, type Tier } from '@restante/contracts/vocabulary'
import { judgeAddress, listNames, normalizeAddress } from '@restante/mime'
import { ApiError } from '@restante/service/errors'
import { pathOf } from '../../lists/path.ts'
import type { FoundEntry } from '../../lists/store.ts'
import type { ExceededStep } from './ramp.ts'
import { type Charge, windowEnd } from './send-limit.ts'

/** A recipient that cannot be mailed, and why. */
export interface RefusedRecipient {
  readonly address: string
  readonly reason: string
  /** What the caller can do about it. */
  readonly remedy:
    | { readonly kind: 'verify' | 'allow' | 'none' }
    | { readonly kind: 'delete'; readonly tier: Tier; readonly entry: string }
}

/** Who sends, and from which inbox. */
type Sending = Pick<Caller, 'credential'> & { readonly inbox: CallerInbox }

const NOT_ALLOWED = 'not in allow list'

/**
 * The refused recipients (mail 12.4): those that an unverified organization may not mail; then those that the service
 * itself has suppressed, whatever allow list names them; then those that a list blocks.
 * @param recipients normalized addresses.
 * @param found the entries that name them, in the lists of the inbox, its pod and its organization.
 */
export function refusedRecipients(
  recipients: readonly string[],
  sending: SendingRight,
  found: readonly FoundEntry[],
): RefusedRecipient[] {
  const lists = {
    entries: found.flatMap(({ entry, ...one }) => (entry === null ? [] : [{ ...one, entry }])),
    hasAllowList: found.some(({ type }) => type === 'allow'),
  }
  return recipients.flatMap((address): RefusedRecipient[] => {
    if (!mayMail(sending, address)) return [{ address, reason: NOT_ALLOWED, remedy: { kind: 'verify' } }]
    const names = listNames(address)
    const suppressed = lists.entries.find(({ read_only, entry }) => read_only && names.includes(entry))
    if (suppressed) return [{ address, reason: suppressed.reason ?? 'blocked', remedy: { kind: 'none' } }]
    const { blocked, entry } = judgeAddress(address, lists)
    if (!blocked) return []
    return entry
      ? [{ address, reason: 'in block list', remedy: { kind: 'delete', tier: entry.tier, entry: entry.entry } }]
      : [{ address, reason: NOT_ALLOWED, remedy: { kind: 'allow' } }]
  })
}

function mayMail(sending: SendingRight, address: string): boolean {
  if (sending === 'none') return false
  if (!sending.startsWith('only:')) return true
  return normalizeAddress(sending.slice('only:'.length)) === address
}

/** The refusal of the whole send, which names each of them (mail 8.4 step 9). */
export function recipientsBlocked(refused: readonly RefusedRecipient[], sending: Sending): ApiError {
  const list = refused.map(({ address, reason }) => `${address} (${reason})`).join(', ')
  const kinds = new Set(refused.map(({ remedy }) => remedy.kind))
  const deletions = new Set(
    refused.flatMap(({ remedy }) => (remedy.kind === 'delete' ? [deletionOf(remedy, sending)] : [])),
  )
  const fixes = [
    ...(kinds.has('verify')
      ? ["Verify the agent's human with POST /v0/agent/verify; until then only the human's own address can be mailed."]
      : []),
    ...(kinds.has('none')
      ? [
          'Entries made by bounces, complaints and recipients who unsubscribed cannot be deleted; omit these recipients.',
        ]
      : []),
    ...(kinds.has('allow') ? ['Add the address or its domain with POST /v0/lists/send/allow.'] : []),
    ...(deletions.size > 0
      ? [`Delete ${deletions.size === 1 ? 'the entry' : 'the entries'}: ${[...deletions].join(', ')}.`]
      : []),
  ]
  return new ApiError('message_rejected', {
    message: `Message rejected: Recipient(s) blocked: ${list}`,
    fix: fixes.join(' '),
  })
}

/** The request that deletes an entry of a send list, and the key that it needs. */
function deletionOf(
  { tier, entry }: { readonly tier: Tier; readonly entry: string },
  { credential, inbox }: Sending,
): string {
  const path = pathOf(
    { tier, direction: 'send', type: 'block' },
    { podId: inbox.pod_id, address: inbox.address },
    entry,
  )
  const isReached = TIERS.indexOf(credential.tier) <= TIERS.indexOf(tier)
  return `DELETE ${path}${isReached ? '' : ` with a key of the ${tier}`}`
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
    message: 'Open tracking needs an inbox on a custom domain whose tracking is enabled and set up',
    fix: 'Omit track_opens.',
  })
}

export function trackingNeedsHtml(): ApiError {
  return new ApiError('unprocessable', {
    message: 'Open tracking is an image in the HTML of a message, and this one has none',
    fix: 'Give html, or omit track_opens.',
  })
}

const HOUR = 3_600
const DAY = 24 * HOUR

/** The refusal of recipients beyond a limit (identity 1.10). @param now determines the time until its window ends. */
export function sendLimitExceeded(limit: Charge, now: Date): ApiError {
  const { tier, recipients, window_seconds } = limit
  const window = windowName(window_seconds)
  return new ApiError('rate_limit_exceeded', {
    message: limit.isOfSignUp
      ? 'Daily send limit exceeded'
      : `Send limit exceeded: ${recipients} recipients per ${window} for one ${tier}`,
    fix: limit.isOfSignUp
      ? "Verify the agent's human with POST /v0/agent/verify, or wait as long as Retry-After says."
      : 'Wait as long as Retry-After says; each recipient counts as one send.',
    retryAfter: Math.max(1, Math.ceil((windowEnd(limit, now).getTime() - now.getTime()) / 1_000)),
    details: { resource: 'recipients', limit: recipients, window },
  })
}

/** The refusal of recipients never written to before, soon after the verification of an agent's human (identity 5.2). */
export function newRecipientsExceeded({ recipients, window_seconds, endsAt }: ExceededStep, now: Date): ApiError {
  const window = windowName(window_seconds)
  return new ApiError('rate_limit_exceeded', {
    message: `New recipient limit exceeded: ${recipients} recipients never written to before in the first ${window} after verification`,
    fix: 'Write to people who have been written to before, or wait as long as Retry-After says.',
    retryAfter: Math.max(1, Math.ceil((endsAt.getTime() - now.getTime()) / 1_000)),
    details: { resource: 'new_recipients', limit: recipients, window },
  })
}

function windowName(seconds: number): string {
  const [unit, count] = seconds % DAY === 0 ? ['day', seconds / DAY] : ['hour', seconds / HOUR]
  return count === 1 ? unit : `${count} ${unit}s`
}
