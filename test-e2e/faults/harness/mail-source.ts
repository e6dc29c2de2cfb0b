import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS } from '@restante/testkit'
import { createTransport, type Transporter } from 'nodemailer'
import type SMTPPool from 'nodemailer/lib/smtp-pool'
import { atRate } from '../../support/open-loop.ts'

export interface MailSourceOptions {
  /** The system's SMTP server. */
  readonly smtp: { readonly host: string; readonly port: number }
  /** The peer that the mails come from. */
  readonly host: string
  readonly domain: string
  readonly inboxes: readonly string[]
}

/** The history of one mail until it was accepted. */
export interface Sent {
  readonly id: string
  readonly inboxId: string
  /** Temporary refusals and broken connections. */
  readonly setbacks: readonly string[]
  readonly acceptedAt: number
}

const CONNECTIONS = 20
const RETRY_MS = 500
/** Every tenth mail is of this size, the others are small. */
const LARGE = 100 * 1024

/**
 * A mail server that sends at a fixed rate, whether or not it gets replies, and treats each mail as servers do: it
 * retries after a 4xx or a broken connection until there is a 250.
 */
export class MailSource {
  /** Mails that were answered with 250, in the order of these replies. */
  readonly accepted: Sent[] = []
  readonly #options: MailSourceOptions
  readonly #transport: Transporter<SMTPPool.SentMessageInfo>
  #count = 0

  constructor(options: MailSourceOptions) {
    this.#options = options
    this.#transport = createTransport({
      pool: true,
      maxConnections: CONNECTIONS,
      maxMessages: Number.POSITIVE_INFINITY,
      ...options.smtp,
      localAddress: options.host,
      secure: false,
      ignoreTLS: true,
      connectionTimeout: PATIENCE_MS,
      greetingTimeout: PATIENCE_MS,
      socketTimeout: PATIENCE_MS,
    })
  }

  /**
   * Sends `count` mails, evenly over the inboxes. Resolves when each is accepted. @throws Error when one was refused.
   * @param rate mails per second.
   */
  async send(count: number, rate: number): Promise<void> {
    await atRate(rate, count, () => this.#sendUntilAccepted(this.#count++))
  }

  close(): void {
    this.#transport.close()
  }

  async #sendUntilAccepted(number: number): Promise<void> {
    const { inboxes, domain } = this.#options
    const id = `<mail-${number}@${domain}>`
    const inboxId = inboxes[number % inboxes.length] ?? ''
    const setbacks: string[] = []
    const mail = {
      from: `human@${domain}`,
      to: inboxId,
      messageId: id,
      subject: `Mail ${number}`,
      // The same bytes at each attempt, as in the queue of a mail server.
      date: new Date(),
      text: isLarge(id) ? `Text ${number}\n`.repeat(LARGE / 10) : `Text ${number}`,
    }
    for (;;) {
      try {
        await this.#transport.sendMail(mail)
        this.accepted.push({ id, inboxId, setbacks, acceptedAt: performance.now() })
        return
      } catch (error) {
        const code = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0
        if (code >= 500) throw new Error(`${id} was refused: ${String(error)}`, { cause: error })
        setbacks.push(String(error))
        await sleep(RETRY_MS)
      }
    }
  }
}

/** Whether the mail of this Message-ID is a large one. */
export function isLarge(id: string): boolean {
  return /^<mail-\d*0@/.test(id)
}
