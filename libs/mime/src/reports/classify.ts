export type BounceType = 'Permanent' | 'Transient' | 'Undetermined'
export type BounceSubType =
  | 'NoEmail'
  | 'General'
  | 'MailboxFull'
  | 'MessageTooLarge'
  | 'ContentRejected'
  | 'Undetermined'

/** How a bounce is classified in events, and whether its recipient is suppressed from now on. */
export interface BounceClass {
  readonly type: BounceType
  readonly subType: BounceSubType
  readonly suppress: boolean
}

/** How a complaint is classified in events; every complaint suppresses. */
export interface ComplaintClass {
  readonly type: string
  readonly subType: string
}

const ENHANCED = /\b([245])\.(\d{1,3})\.(\d{1,3})\b/
const NO_MAILBOX = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10'])
const MAILBOX_FULL = new Set(['4.2.2', '5.2.2'])
const TOO_LARGE = new Set(['5.2.3', '5.3.4'])

/** The enhanced status code (RFC 3463) in a server's answer or a Status field, for example `5.1.1`. */
export function enhancedStatusIn(text: string): string | undefined {
  return ENHANCED.exec(text.slice(0, 1_000))?.[0]
}

/**
 * The class of a failed delivery (events 1.3); undefined while it is not a bounce, because a temporary failure is still
 * being retried.
 * @param enhancedStatus for example `5.1.1`, when the server gave one; it takes precedence over the code
 * @param smtpCode for example 550
 * @param exhausted whether there will be no retry: the retry window is over, or a report says `failed`
 */
export function classifyBounce(
  enhancedStatus: string | undefined,
  smtpCode: number | undefined,
  exhausted: boolean,
): BounceClass | undefined {
  const status = enhancedStatusIn(enhancedStatus ?? '') ?? ''
  const severity = status === '' ? Math.trunc((smtpCode ?? 0) / 100) : Number(status[0])
  if (severity === 4 && !exhausted) return undefined
  if (NO_MAILBOX.has(status)) return { type: 'Permanent', subType: 'NoEmail', suppress: true }
  if (MAILBOX_FULL.has(status)) return transient('MailboxFull')
  if (TOO_LARGE.has(status)) return transient('MessageTooLarge')
  if (status.startsWith('5.6.') || status.startsWith('5.7.')) return transient('ContentRejected')
  if (severity === 5) return { type: 'Permanent', subType: 'General', suppress: true }
  if (severity === 4) return transient('General')
  return { type: 'Undetermined', subType: 'Undetermined', suppress: false }
}

/**
 * The class of an abuse report by its Feedback-Type (events 1.3, RFC 5965 7.3); undefined for reports that are not
 * complaints: `not-spam`, and `auth-failure` (RFC 6591).
 */
export function classifyComplaint(feedbackType: string | undefined): ComplaintClass | undefined {
  const type = feedbackType?.trim().toLowerCase() || 'abuse'
  if (type === 'not-spam' || type === 'auth-failure') return undefined
  if (type === 'abuse') return { type: 'abuse', subType: 'spam' }
  return type === 'fraud' || type === 'virus' ? { type, subType: type } : { type: 'other', subType: 'other' }
}

function transient(subType: BounceSubType): BounceClass {
  return { type: 'Transient', subType, suppress: false }
}
