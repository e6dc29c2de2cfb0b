import { Readable } from 'node:stream'
import { parentPort } from 'node:worker_threads'
import { AnswerCache } from '../dns/answer-cache.ts'
import { Lookups } from '../dns/lookups.ts'
import type { Answer, Question } from '../dns/question.ts'
import { judgeMail } from './judge-mail.ts'
import type { FromThread, MailToJudge, ToThread } from './protocol.ts'

/** A longer line of a body is not hashed: canonicalization processes a whole line at a time. */
const LINE_BYTES = 1024 * 1024
const LF = 0x0a

/** Answers of the main thread, so that mails of the same senders do not wait for a message to it and back. */
const answers = new AnswerCache({ entries: 1_000, characters: 1024 * 1024 })

/** A mail whose sender is being authenticated. */
class Judging {
  /** The message as the verifier reads it: it receives the pieces as they arrive, and consumes all of them at once. */
  readonly #message = new Readable({ read() {} })
  readonly #questions = new Map<number, (answer: Answer) => void>()
  readonly #id: number
  #asked = 0
  #catchingUp: (() => void)[] = []
  /** Bytes of a line whose end has not arrived. */
  #line: Uint8Array[] = []
  #lineBytes = 0

  constructor(id: number, mail: MailToJudge) {
    this.#id = id
    this.#message.push(Buffer.from(mail.header, 'latin1'))
    if (!mail.signed) this.#message.push(null)
    judgeMail(mail, this.#message, this.#lookups()).then(
      (judgement) => send({ kind: 'judged', id, judgement }),
      (error: unknown) => send({ kind: 'failed', id, reason: error instanceof Error ? error.message : String(error) }),
    )
  }

  /**
   * Processes the next piece of the body. The verifier gets whole lines only, because it reads an incomplete line again
   * with every piece.
   * @returns whether a line is too long to be hashed.
   */
  take(piece: Uint8Array, last: boolean): boolean {
    const end = last ? piece.length : piece.lastIndexOf(LF) + 1
    if (end > 0 || last) this.#push([...this.#line.splice(0), piece.subarray(0, end)])
    const rest = piece.subarray(end)
    if (end > 0) this.#lineBytes = 0
    if (rest.length > 0) this.#line.push(rest)
    this.#lineBytes += rest.length
    if (last) this.#message.push(null)
    return this.#lineBytes > LINE_BYTES
  }

  answer(question: number, answer: Answer): void {
    this.#questions.get(question)?.(answer)
    this.#questions.delete(question)
  }

  caughtUp(): void {
    for (const resolve of this.#catchingUp.splice(0)) resolve()
  }

  end(): void {
    this.#message.destroy(new Error('The mail is no longer judged'))
  }

  #push(pieces: readonly Uint8Array[]): void {
    const bytes = Buffer.concat(pieces)
    if (bytes.length > 0) this.#message.push(bytes)
  }

  #lookups(): Lookups {
    return new Lookups(
      (asked) => this.#ask(asked),
      () =>
        new Promise((resolve) => {
          this.#catchingUp.push(resolve)
          send({ kind: 'catch up', id: this.#id })
        }),
    )
  }

  async #ask(asked: Question): Promise<Answer> {
    const known = answers.get(asked)
    if (known) return known
    const question = ++this.#asked
    const { promise, resolve } = Promise.withResolvers<Answer>()
    this.#questions.set(question, resolve)
    send({ kind: 'ask', id: this.#id, question, asked })
    const answer = await promise
    answers.set(asked, answer)
    return answer
  }
}

const judged = new Map<number, Judging>()

/** What one turn of the event loop has to say is sent together. */
const outgoing: FromThread[] = []

function send(message: FromThread): void {
  if (message.kind === 'judged' || message.kind === 'failed') judged.delete(message.id)
  if (outgoing.push(message) === 1) setImmediate(() => parentPort?.postMessage(outgoing.splice(0)))
}

/** @returns whether a line is too long to be hashed. */
function workOff(message: Extract<ToThread, { kind: 'judge' | 'body' }>): boolean {
  if (message.kind === 'body') return judged.get(message.id)?.take(message.piece, message.last) ?? false
  judged.set(message.id, new Judging(message.id, message.mail))
  return false
}

parentPort?.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'answer':
      judged.get(message.id)?.answer(message.question, message.answer)
      return
    case 'caught up':
      judged.get(message.id)?.caughtUp()
      return
    case 'forget':
      judged.get(message.id)?.end()
      judged.delete(message.id)
      return
    case 'judge':
    case 'body': {
      const begun = process.threadCpuUsage()
      let tooLongLine = false
      // The verifier has processed the message before the next turn of the event loop. Scheduled before the work, so
      // that a judgement that needs no more than this turn is sent together with it.
      setImmediate(() => {
        const { user, system } = process.threadCpuUsage(begun)
        send({ kind: 'done', id: message.id, cpuMs: (user + system) / 1_000, tooLongLine })
      })
      tooLongLine = workOff(message)
    }
  }
})
send({ kind: 'ready' })
