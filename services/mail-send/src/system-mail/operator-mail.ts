import type { BlobStore } from '@restante/blobs'
import type { InternalRequestOf } from '@restante/contracts/internal'
import type { Operator } from '@restante/kit'
import { type Address, type ComposedMail, compose, type DkimKeys, parseAddress, parseHeadersOnly } from '@restante/mime'
import { Semaphore } from '@restante/service/concurrency'
import type { InstallationMail } from '../delivery/outbound/installation-mail.ts'

type Received = InternalRequestOf<'mail-send.forwardToOperator'>

export interface OperatorMailOptions {
  readonly blobs: BlobStore
  readonly mails: InstallationMail
  readonly operator: Operator
  readonly domain: string
  readonly sender: { readonly name: string; readonly address: string }
  readonly dkim: DkimKeys | undefined
}

/** A mail of 10 MB is in memory several times while it is composed and sealed. */
const AT_ONCE = 1
/** Of the original in the subject of the forwarded mail. */
const SUBJECT_LENGTH = 200

/**
 * Forwards mail to `postmaster` and `abuse` to the operator: the original, unchanged, is attached to a mail of the
 * installation. Sent again under the name of its author, it would fail the DMARC policy of the author's domain, and the
 * operator's server would refuse it. Its return path is that of a delivery of the installation, whose reports raise nothing,
 * and `X-Loop` marks it, so that one that comes back is refused and not forwarded again.
 */
export class OperatorMail {
  readonly #options: OperatorMailOptions
  readonly #permits = new Semaphore(AT_ONCE)

  constructor(options: OperatorMailOptions) {
    this.#options = options
  }

  /** Accepts the mail for delivery, durably; once per id, however often it is called. */
  async forward(received: Received): Promise<void> {
    const { mails, operator } = this.#options
    const release = await this.#permits.take()
    try {
      await mails.queue(received.id, operator.address, () => this.#compose(received))
    } finally {
      release()
    }
  }

  async #compose(received: Received): Promise<ComposedMail> {
    const { operator, domain, sender, dkim } = this.#options
    const raw = await this.#originalOf(received)
    const { subject, author } = parseHeadersOnly(raw)
    const replyTo = author === undefined ? undefined : readAddress(author)
    const local = received.recipient.replace(/@.*$/, '').toLowerCase()
    return compose({
      from: { name: sender.name, address: sender.address },
      to: [{ address: operator.address }],
      ...(replyTo && { replyTo: [replyTo] }),
      subject: oneLine(`[${local}] ${subject ?? '(no subject)'}`)
        .slice(0, SUBJECT_LENGTH)
        .toWellFormed(),
      text: words(received),
      attachments: [{ content: raw, contentType: 'message/rfc822', filename: 'mail.eml' }],
      messageId: `<${received.id}@${domain}>`,
      date: new Date(),
      serviceHeaders: { 'Auto-Submitted': 'auto-generated', 'X-Loop': operator.mark },
      ...(dkim && { dkim }),
    })
  }

  async #originalOf({ content }: Received): Promise<Buffer> {
    return 'bytes' in content ? Buffer.from(content.bytes, 'base64') : this.#options.blobs.buffer(content.blob)
  }
}

/** An author to whom an answer can be sent. */
function readAddress(author: string): Address | undefined {
  const read = parseAddress(author)
  return read.ok ? read.address : undefined
}

function words({ recipient, mail_from, peer, received_at }: Received): string {
  return [
    `This installation received the attached mail for ${oneLine(recipient)}.`,
    '',
    `Received at: ${received_at}`,
    `Envelope sender: <${oneLine(mail_from)}>`,
    peer === undefined ? 'Sent by an inbox of this installation.' : `From the address: ${peer}`,
    '',
    'The attached mail is unchanged. Its sender was not verified, and it was not checked for spam.',
    '',
  ].join('\r\n')
}

/** Text of strangers as one line: nothing of it can begin another. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim()
}
