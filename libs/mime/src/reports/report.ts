import { messageIdsIn } from '../ids.ts'
import { allValues, firstValue, type HeaderField, readHeaderBlock } from '../parse/header-block.ts'
import { type Budget, newBudget, type ParseLimits } from '../parse/limits.ts'
import { contentOf, type Part, readStructure } from '../parse/structure.ts'
import { enhancedStatusIn } from './classify.ts'

/** What became of one recipient (RFC 3464 2.3). */
export interface RecipientStatus {
  /** The address the report is about. */
  readonly recipient: string
  /** The address as the mail was sent to it, when the report says so. */
  readonly originalRecipient?: string
  readonly action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  /** Enhanced status code, for example `5.1.1`. */
  readonly status?: string
  /** SMTP code of the diagnostic, for example 550. */
  readonly smtpCode?: number
  readonly diagnostic?: string
  readonly remoteMta?: string
}

/** A delivery status notification (RFC 3464). */
export interface DeliveryReport {
  readonly kind: 'delivery'
  readonly recipients: RecipientStatus[]
  readonly reportingMta?: string
  readonly originalEnvelopeId?: string
  readonly originalMessageId?: string
}

/** An abuse report (ARF, RFC 5965). */
export interface FeedbackReport {
  readonly kind: 'feedback'
  /** Feedback-Type in lower case. */
  readonly feedbackType?: string
  readonly recipients: string[]
  readonly originalMailFrom?: string
  readonly originalMessageId?: string
}

export type Report = DeliveryReport | FeedbackReport

const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const
const MAX_RECIPIENTS = 500
const MAX_DIAGNOSTIC = 2_000

/** The report that a mail is, or undefined when it is none. Recognised by its parts, not by its subject. Never throws. */
export function readReport(raw: Buffer, limits?: Partial<ParseLimits>): Report | undefined {
  const budget = newBudget(limits)
  return reportIn(raw, readStructure(raw, budget), budget)
}

/** `readReport` for a caller that has already read the structure. */
export function reportIn(raw: Buffer, root: Part, budget: Budget): Report | undefined {
  if (root.type !== 'multipart/report') return undefined
  const original = originalHeader(raw, root, budget)
  const [originalMessageId] = messageIdsIn(firstValue(original, 'message-id') ?? '')
  const known = originalMessageId === undefined ? {} : { originalMessageId }
  const status = root.children.find(({ type }) => /^message\/(?:global-)?delivery-status$/.test(type))
  if (status !== undefined) return deliveryReport(contentOf(raw, status), known, budget)
  const feedback = root.children.find(({ type }) => type === 'message/feedback-report')
  return feedback && feedbackReport(contentOf(raw, feedback), known, budget)
}

function deliveryReport(body: Buffer, known: { originalMessageId?: string }, budget: Budget): DeliveryReport {
  const [perMessage = [], ...groups] = fieldGroups(body, budget)
  const reportingMta = typed(firstValue(perMessage, 'reporting-mta'))
  const originalEnvelopeId = firstValue(perMessage, 'original-envelope-id')
  return {
    kind: 'delivery',
    // Some senders leave out the empty line after the per-message fields.
    recipients: [perMessage, ...groups].map(recipientStatus).filter((entry) => entry !== undefined),
    ...(reportingMta && { reportingMta }),
    ...(originalEnvelopeId && { originalEnvelopeId }),
    ...known,
  }
}

function recipientStatus(fields: readonly HeaderField[]): RecipientStatus | undefined {
  const originalRecipient = typed(firstValue(fields, 'original-recipient'))
  const recipient = typed(firstValue(fields, 'final-recipient')) ?? originalRecipient
  const word = firstValue(fields, 'action')
    ?.split(/[\s(;]/, 1)[0]
    ?.toLowerCase()
  const action = ACTIONS.find((known) => known === word)
  if (recipient === undefined || action === undefined) return undefined
  const status = enhancedStatusIn(firstValue(fields, 'status') ?? '')
  const diagnostic = typed(firstValue(fields, 'diagnostic-code'))?.slice(0, MAX_DIAGNOSTIC)
  const code = /^\s*([245]\d\d)\b/.exec(diagnostic ?? '')?.[1]
  const remoteMta = typed(firstValue(fields, 'remote-mta'))
  return {
    recipient,
    ...(originalRecipient !== undefined && { originalRecipient }),
    action,
    ...(status !== undefined && { status }),
    ...(code !== undefined && { smtpCode: Number(code) }),
    ...(diagnostic !== undefined && { diagnostic }),
    ...(remoteMta !== undefined && { remoteMta }),
  }
}

function feedbackReport(body: Buffer, known: { originalMessageId?: string }, budget: Budget): FeedbackReport {
  const fields = fieldGroups(body, budget).flat()
  const feedbackType = firstValue(fields, 'feedback-type')?.toLowerCase()
  const originalMailFrom = firstValue(fields, 'original-mail-from')?.replace(/^<|>$/g, '')
  return {
    kind: 'feedback',
    ...(feedbackType && { feedbackType }),
    recipients: allValues(fields, 'original-rcpt-to')
      .slice(0, MAX_RECIPIENTS)
      .map((value) => value.replace(/^<|>$/g, '')),
    ...(originalMailFrom && { originalMailFrom }),
    ...known,
  }
}

/** The groups of header-like fields between empty lines (RFC 3464 2.1.1). */
function fieldGroups(body: Buffer, budget: Budget): HeaderField[][] {
  const groups: HeaderField[][] = []
  for (let at = 0; at < body.length && groups.length <= MAX_RECIPIENTS; ) {
    const { fields, bodyStart } = readHeaderBlock(body, at, body.length, budget)
    if (fields.length > 0) groups.push([...fields])
    at = bodyStart
  }
  return groups
}

/** The header of the returned message, whole or as text/rfc822-headers. */
function originalHeader(raw: Buffer, root: Part, budget: Budget): readonly HeaderField[] {
  const original = root.children.find(({ type }) =>
    /^(?:message\/(?:rfc822|global|rfc822-headers|global-headers)|text\/rfc822-headers)$/.test(type),
  )
  if (original === undefined) return []
  const content = contentOf(raw, original)
  return readHeaderBlock(content, 0, content.length, budget).fields
}

/** The text of a `type; text` field (RFC 3464 2.1.2), without angle brackets. */
function typed(value: string | undefined): string | undefined {
  const text = value?.slice(value.indexOf(';') + 1).trim()
  return text?.replace(/^<([^<>]*)>$/, '$1') || undefined
}
