import { createServer, type Socket } from 'node:net'
import { freePort } from '@restante/testkit'

/** What Postfix asks about (SMTPD_POLICY_README): a recipient, or a mail that it has whole. */
export interface PolicyQuestion {
  readonly state: 'RCPT' | 'END-OF-MESSAGE'
  readonly recipient: string
  /** The same in all questions about one mail of one session. */
  readonly instance: string
}

/**
 * An action of access(5): `DUNNO` lets it pass, a reply such as `450 4.2.0 later` refuses it. In `silence` the question
 * stays open, and Postfix as silent towards its client.
 */
export type PolicyAction = 'DUNNO' | 'silence' | `${number} ${string}`

/** Decides for a Postfix what it answers, by its protocol of policy servers. */
export class PostfixPolicy {
  decide: (question: PolicyQuestion) => PolicyAction = () => 'DUNNO'
  /** Questions that were met with silence. */
  unanswered = 0
  readonly #silentAbout = new Set<string>()
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((socket) => this.#serve(socket))
  #port = 0

  async start(): Promise<this> {
    this.#port = await freePort()
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve))
    return this
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Lines of main.cf that have it asked. */
  get settings(): string[] {
    const server = `check_policy_service inet:127.0.0.1:${this.#port}`
    return [
      `smtpd_recipient_restrictions = ${server}, reject_unauth_destination`,
      `smtpd_end_of_data_restrictions = ${server}`,
      'smtpd_policy_service_timeout = 10s',
    ]
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {})
    let pending = ''
    socket.on('data', (bytes) => {
      const questions = (pending + bytes.toString()).split('\n\n')
      pending = questions.pop() ?? ''
      for (const text of questions) this.#answer(socket, questionOf(text))
    })
  }

  #answer(socket: Socket, question: PolicyQuestion): void {
    // Postfix asks once more before it refuses the mail.
    if (this.#silentAbout.has(question.instance)) return
    const action = this.decide(question)
    if (action === 'silence') {
      this.#silentAbout.add(question.instance)
      this.unanswered++
    } else socket.write(`action=${action}\n\n`)
  }
}

function questionOf(text: string): PolicyQuestion {
  const fieldOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? ''
  const state = fieldOf('protocol_state')
  return {
    state: state === 'RCPT' ? state : 'END-OF-MESSAGE',
    recipient: fieldOf('recipient'),
    instance: fieldOf('instance'),
  }
}
