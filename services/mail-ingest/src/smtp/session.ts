import { randomUUID } from 'node:crypto'
import type { SMTPServerSession } from 'smtp-server'
import type { Destinations } from '../inbound/acceptance.ts'
import type { SmtpEnvelope } from '../inbound/envelope.ts'
import type { Recipient } from '../inbound/recipients.ts'
import type { InboxScope, NewInbound } from '../inbound/store.ts'
import type { UnsubscribeRequest } from '../inbound/unsubscribe.ts'
import type { Allowance } from './admission.ts'

/** The state of one SMTP connection. */
export interface Session {
  readonly peer: string
  /** Resolved recipients of the current transaction by the address as given, lower case. */
  readonly recipients: Map<string, Recipient>
  /** Number of accepted RCPT commands of the current transaction, repeated ones included. */
  named: number
  /** What the current transaction has taken from the rates. */
  allowance: Allowance
  /** Number of refused recipients: a client that guesses addresses is disconnected. */
  refused: number
  readonly lifetime: NodeJS.Timeout
}

/**
 * Queue rows, paused inboxes and requests to unsubscribe for the accepted recipients: one per inbox or delivery, however
 * often it was named.
 */
export function destinationsOf(recipients: Iterable<Recipient>, peer: string): Destinations {
  const rows: NewInbound[] = []
  const paused: InboxScope[] = []
  const unsubscribed: UnsubscribeRequest[] = []
  const seen = new Set<string>()
  for (const recipient of recipients) {
    if (recipient.kind === 'unknown') continue
    const target = targetOf(recipient)
    if (seen.has(target)) continue
    seen.add(target)
    const row = { id: randomUUID(), recipient: recipient.given }
    switch (recipient.kind) {
      case 'report':
        rows.push({ ...row, kind: 'report', deliveryId: recipient.deliveryId })
        break
      case 'complaint':
      case 'dmarc':
      case 'operator':
        rows.push({ ...row, kind: recipient.kind })
        break
      case 'unsubscribe':
        unsubscribed.push({ deliveryId: recipient.deliveryId, receivedAt: new Date(), peer })
        break
      case 'inbox': {
        const { status, given: _, ...inbox } = recipient.answer
        if (status === 'paused') paused.push(inbox)
        else rows.push({ ...row, kind: 'mail', inbox })
      }
    }
  }
  return { rows, paused, unsubscribed }
}

/** The destinations of a mail in numbers, for its log line. */
export function countsOf({ rows, paused, unsubscribed }: Destinations): Readonly<Record<string, number>> {
  return { rows: rows.length, paused: paused.length, unsubscribed: unsubscribed.length }
}

/** How a recipient is counted. */
export function outcomeOf(recipient: Recipient): string {
  if (recipient.kind === 'inbox') return recipient.answer.status
  return recipient.kind === 'unknown' && recipient.why === 'domain' ? 'unknown_domain' : recipient.kind
}

/**
 * Whether a recipient needs a mail of its own: what the operator gets is smaller and refused for more reasons, which must
 * not be reasons to refuse the mail of an inbox. Senders repeat those that were answered with 452 (RFC 5321 4.5.3.1.10).
 */
export function isApart(recipient: Recipient, others: Iterable<Recipient>): boolean {
  if (recipient.kind === 'unknown') return false
  const forOperator = recipient.kind === 'operator'
  return [...others].some(({ kind }) => (kind === 'operator') !== forOperator)
}

/** Recipients with the same target get one copy. */
function targetOf(recipient: Exclude<Recipient, { kind: 'unknown' }>): string {
  switch (recipient.kind) {
    case 'inbox':
      return recipient.answer.inbox_uid
    case 'complaint':
    case 'dmarc':
      return `${recipient.kind} ${recipient.given.toLowerCase()}`
    case 'operator':
      return recipient.kind
    case 'report':
    case 'unsubscribe':
      return `${recipient.kind} ${recipient.deliveryId}`
  }
}

/** The SMTP envelope of the mail that is being received. */
export function envelopeOf(session: SMTPServerSession): SmtpEnvelope {
  const { envelope, tlsOptions } = session
  return {
    via: 'smtp',
    mail_from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
    peer: session.remoteAddress,
    helo: session.hostNameAppearsAs,
    protocol: session.transmissionType,
    ...(tlsOptions !== false && { tls: `${tlsOptions.version} ${tlsOptions.name}` }),
    smtputf8: envelope.smtpUtf8 ?? false,
  }
}
