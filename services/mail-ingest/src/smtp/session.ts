import { randomUUID } from 'node:crypto'
import type { SMTPServerSession } from 'smtp-server'
import type { Destinations } from '../inbound/acceptance.ts'
import type { SmtpEnvelope } from '../inbound/envelope.ts'
import type { Recipient } from '../inbound/recipients.ts'
import type { InboxScope } from '../inbound/store.ts'
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

/** Queue rows and paused inboxes for the accepted recipients: one per inbox, however often it was named. */
export function destinationsOf(recipients: Iterable<Recipient>): Destinations {
  const rows: Destinations['rows'][number][] = []
  const paused: InboxScope[] = []
  const seen = new Set<string>()
  for (const recipient of recipients) {
    if (recipient.kind === 'unknown') continue
    const target = recipient.kind === 'report' ? recipient.deliveryId : recipient.answer.inbox_uid
    if (seen.has(target)) continue
    seen.add(target)
    if (recipient.kind === 'report') {
      rows.push({ id: randomUUID(), kind: 'report', recipient: recipient.given, deliveryId: target })
      continue
    }
    const { status, given: _, ...inbox } = recipient.answer
    if (status === 'paused') paused.push(inbox)
    else rows.push({ id: randomUUID(), kind: 'mail', recipient: recipient.given, inbox })
  }
  return { rows, paused }
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
