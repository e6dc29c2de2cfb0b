import MimeNode from 'nodemailer/lib/mime-node'
import { normalizeAddress } from '../addresses/address.ts'

/** What a notification of a failed delivery says (RFC 3464). */
export interface BounceNotice {
  readonly from: string
  /** The inbox that sent the message. */
  readonly to: string
  /** With angle brackets, like `original`. */
  readonly messageId: string
  readonly date: Date
  readonly reportingMta: string
  readonly original: {
    readonly messageId: string
    readonly acceptedAt: Date
    /** Its header as it was sent, as far as it is still known. */
    readonly header: Buffer | undefined
  }
  readonly recipient: string
  /** Enhanced status code (RFC 3463). */
  readonly status: string
  /** The last answer in words. */
  readonly diagnostic: string
  /** The server that gave it. */
  readonly remoteMta: string | undefined
  readonly attemptedAt: Date
}

/** A field of a report stays below the longest line of RFC 5322 2.1.1. */
const LONGEST_VALUE = 900

/**
 * Composes the notification that a mail server would send: words for people, the fields for programs, and the header of
 * the original. It answers the original, and so joins its thread. What servers and callers wrote becomes one line of
 * ASCII: nothing of it can add a field.
 */
export function composeBounceNotice(notice: BounceNotice): Promise<Buffer> {
  const { from, to, messageId, date, original } = notice
  const root = new MimeNode('multipart/report; report-type=delivery-status', { newline: '\r\n' })
  root.setHeader({
    From: { name: 'Mail Delivery System', address: from },
    To: to,
    Subject: 'Undelivered Mail Returned to Sender',
    'Auto-Submitted': 'auto-replied',
    'Message-ID': messageId,
    'In-Reply-To': original.messageId,
    References: original.messageId,
    Date: date,
  })
  root.createChild('text/plain; charset=utf-8').setContent(words(notice))
  root.createChild('message/delivery-status').setContent(fields(notice))
  const header = original.header?.toString('utf8') ?? `Message-ID: ${line(original.messageId)}\r\n`
  root.createChild('text/rfc822-headers; charset=utf-8').setContent(header)
  return root.build()
}

function words({ recipient, status, diagnostic, remoteMta }: BounceNotice): string {
  const who = remoteMta === undefined ? '' : `${line(remoteMta)} said: `
  return [
    `Your message could not be delivered to ${line(recipient, LONGEST_VALUE)}.`,
    '',
    `${who}${line(diagnostic)} (${line(status)})`,
    '',
    'No further attempt is made. The header of the message is attached.',
    '',
  ].join('\r\n')
}

function fields(notice: BounceNotice): string {
  const { reportingMta, original, recipient, status, diagnostic, remoteMta, attemptedAt } = notice
  return [
    `Reporting-MTA: dns; ${ascii(reportingMta)}`,
    `Arrival-Date: ${stamp(original.acceptedAt)}`,
    '',
    `Final-Recipient: ${recipientField(recipient)}`,
    'Action: failed',
    `Status: ${ascii(status)}`,
    ...(remoteMta === undefined ? [] : [`Remote-MTA: dns; ${ascii(remoteMta)}`]),
    `Diagnostic-Code: smtp; ${ascii(diagnostic)}`,
    `Last-Attempt-Date: ${stamp(attemptedAt)}`,
    '',
  ].join('\r\n')
}

/** An internationalized local part in the form of 7 bits (RFC 6533 3). */
function recipientField(recipient: string): string {
  const normal = normalizeAddress(recipient)
  const address = recipient.slice(0, recipient.lastIndexOf('@')) + normal.slice(normal.lastIndexOf('@'))
  if (/^[\x21-\x7e]*$/.test(address)) return `rfc822; ${address}`
  return `utf-8; ${address.replace(/[^\x21-\x7e]|\\/gu, (char) => `\\x{${char.codePointAt(0)?.toString(16).toUpperCase()}}`)}`
}

function ascii(text: string): string {
  return line(text).replace(/[^\x20-\x7e]/gu, '?')
}

function line(text: string, length = LONGEST_VALUE): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ')
    .trim()
    .slice(0, length)
    .toWellFormed()
}

function stamp(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000')
}
