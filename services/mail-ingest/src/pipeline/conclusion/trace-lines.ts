import type { LeasedMail } from '../queue/queue.ts'

/**
 * Header lines that final delivery adds above the mail (RFC 5321 4.4, RFC 8601): the return path, the recipient, the
 * authentication results, and the hop. They are stored separately from the bytes, which stay as they were received.
 */
export function traceLines(mail: LeasedMail, hostname: string, authentication: string): string {
  const { envelope, recipient, receivedAt } = mail
  const from =
    envelope.via === 'smtp'
      ? `from ${atom(envelope.helo)} ([${literal(envelope.peer)}])\r\n\tby ${hostname} with ${envelope.protocol}`
      : `by ${hostname}`
  const tls = envelope.via === 'smtp' && envelope.tls !== undefined ? ` (${envelope.tls})` : ''
  return (
    `Return-Path: <${line(envelope.mail_from)}>\r\n` +
    `Delivered-To: ${line(recipient)}\r\n` +
    authentication +
    `Received: ${from}${tls} id ${mail.id}\r\n\tfor <${line(recipient)}>; ${mailDate(receivedAt)}\r\n`
  )
}

/** `Sat, 21 Nov 2026 05:00:00 +0000` */
function mailDate(at: Date): string {
  return at.toUTCString().replace('GMT', '+0000')
}

/** An address literal (RFC 5321 4.1.3). */
function literal(address: string): string {
  return address.includes(':') ? `IPv6:${address}` : address
}

function atom(text: string): string {
  return line(text).replace(/[\s()<>;\\"]/g, '?')
}

/** smtp-server refuses control characters from clients; this ensures that none can end a header line here. */
function line(text: string): string {
  return text.replace(/\p{Cc}/gu, '?')
}
