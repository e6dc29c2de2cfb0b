import { SmtpSession } from '@restante/testkit'
import { mailText } from './mail.ts'

/** SMTP sessions that are kept open; each sends one mail at a time. */
export class SmtpSenders {
  readonly #port: number
  readonly #from: string
  readonly #idle: SmtpSession[] = []

  constructor(port: number, from: string) {
    this.#port = port
    this.#from = from
  }

  /**
   * Sends a mail. @returns the time at which its `250` was read, in milliseconds of this process. @throws Error when it
   * is refused.
   */
  async send(to: string, messageId: string, bytes?: number): Promise<number> {
    const session = this.#idle.pop() ?? (await this.#open())
    const mail = mailText({ from: this.#from, to, messageId, ...(bytes !== undefined && { bytes }) })
    await session.command(`MAIL FROM:<${this.#from}>`)
    await session.command(`RCPT TO:<${to}>`)
    const { code, text } = await session.data(mail)
    const at = performance.now()
    if (code !== 250) throw new Error(`the mail was answered ${code} ${text}`)
    this.#idle.push(session)
    return at
  }

  async stop(): Promise<void> {
    await Promise.all(this.#idle.map((session) => session.quit()))
  }

  async #open(): Promise<SmtpSession> {
    const session = await SmtpSession.open(this.#port)
    await session.command('EHLO sender.test')
    return session
  }
}
