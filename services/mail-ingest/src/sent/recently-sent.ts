import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { RecentSend } from '@restante/contracts/internal'
import { isMadeMessageId } from '@restante/mime'
import { Batcher } from '@restante/service/concurrency'
import type { Database } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { store } from '../mailbox/store.ts'
import type { SentPlacement } from './placement.ts'
import { tombstones } from './store.ts'

export interface JustSentOptions {
  readonly db: Database
  readonly mailSend: ServiceClient<'mail-ingest'>
  readonly placement: SentPlacement
  readonly log: Logger
}

type Question =
  | { readonly kind: 'message'; readonly inbox_uid: string; readonly message_id: string }
  | { readonly kind: 'thread'; readonly organization_id: string; readonly thread_id: string }

const TIMEOUT_MS = 1_000
/**
 * Questions per call, and concurrent calls. Many requests for messages that do not exist thus cost mail-send few
 * queries.
 */
const TOGETHER = 100
const CALLS = 2
/**
 * Most waiting questions. Beyond them nothing is asked: mail-send is probably down, and each question would only time
 * out.
 */
const MOST_WAITING = 400
/** Both services create random thread ids (RFC 9562 5.4). */
const MADE_THREAD_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/**
 * Finds messages that were sent moments ago and whose copies are not in the mailbox yet (mail 6.3). Before a reader
 * gets the answer that a message or thread does not exist, mail-send is asked, and what it has is placed. Reading does
 * not depend on mail-send: when it does not answer in time, the message is not found.
 */
export class RecentlySent {
  readonly #options: JustSentOptions
  readonly #questions: Batcher<Question, readonly RecentSend[]>
  readonly #placing = new Map<string, Promise<void>>()
  #waiting = 0

  constructor(options: JustSentOptions) {
    this.#options = options
    this.#questions = new Batcher({ maxItems: TOGETHER, concurrency: CALLS, work: (questions) => this.#ask(questions) })
  }

  /**
   * Calls `read`. If it does not find the message, the message is looked up at mail-send, and `read` is called once
   * more.
   * @throws what `read` throws.
   */
  async message<T>(inbox: CallerInbox, messageId: string, read: () => Promise<T>): Promise<T> {
    return this.#orElse(read, () => this.#bringMessage(inbox, messageId))
  }

  /** The same for a thread. */
  async thread<T>(caller: Caller, threadId: string, read: () => Promise<T>): Promise<T> {
    return this.#orElse(read, () => this.#bringThread(caller, threadId))
  }

  async #orElse<T>(read: () => Promise<T>, bring: () => Promise<boolean>): Promise<T> {
    try {
      return await read()
    } catch (error) {
      const isThere = error instanceof ApiError && error.code === 'not_found' && (await this.#tried(bring))
      if (!isThere) throw error
      return read()
    }
  }

  async #tried(bring: () => Promise<boolean>): Promise<boolean> {
    try {
      return await bring()
    } catch (error) {
      this.#options.log.warn({ err: error }, 'recent sends could not be looked up')
      return false
    }
  }

  /** Ids of other domains were not created here; a message that is stored, or was deleted, need not be looked up. */
  async #bringMessage({ uid, address }: CallerInbox, messageId: string): Promise<boolean> {
    if (!isMadeMessageId(messageId, address.slice(address.lastIndexOf('@') + 1))) return false
    if (await store.message(this.#options.db, uid, messageId)) return false
    const reference = { inbox_uid: uid, message_id: messageId }
    if ((await tombstones.among(this.#options.db, [reference])).length > 0) return false
    return this.#bring({ kind: 'message', inbox_uid: uid, message_id: messageId })
  }

  async #bringThread({ organization_id, inbox }: Caller, threadId: string): Promise<boolean> {
    if (!MADE_THREAD_ID.test(threadId)) return false
    if (await store.thread(this.#options.db, threadId)) return false
    return this.#bring({ kind: 'thread', organization_id, thread_id: threadId }, inbox?.uid)
  }

  /** @returns whether anything was placed. */
  async #bring(question: Question, inboxUid?: string): Promise<boolean> {
    if (this.#waiting >= MOST_WAITING) return false
    this.#waiting++
    try {
      const sends = await this.#questions.add(question)
      const ours = sends.filter(({ inbox_uid }) => inboxUid === undefined || inbox_uid === inboxUid)
      for (const send of ours) await this.#placeOnce(send)
      return ours.length > 0
    } finally {
      this.#waiting--
    }
  }

  /** Concurrent readers of one message wait for one placement. */
  #placeOnce(send: RecentSend): Promise<void> {
    const key = `${send.inbox_uid} ${send.message_id}`
    const running = this.#placing.get(key)
    if (running) return running
    const placing = this.#place(send).finally(() => this.#placing.delete(key))
    this.#placing.set(key, placing)
    return placing
  }

  async #place({ inbox_uid, message_id }: RecentSend): Promise<void> {
    const { mailSend, placement } = this.#options
    const request = { inbox_uid, message_ids: [message_id] }
    const { copy } = await mailSend.call('mail-send.getSentCopy', request, TIMEOUT_MS)
    if (copy) await placement.place(copy)
  }

  async #ask(questions: readonly Question[]): Promise<RecentSend[][]> {
    const { sends } = await this.#options.mailSend.call(
      'mail-send.findRecentSends',
      {
        messages: questions.flatMap((asked) =>
          asked.kind === 'message' ? [{ inbox_uid: asked.inbox_uid, message_id: asked.message_id }] : [],
        ),
        threads: questions.flatMap((asked) =>
          asked.kind === 'thread' ? [{ organization_id: asked.organization_id, thread_id: asked.thread_id }] : [],
        ),
      },
      TIMEOUT_MS,
    )
    return questions.map((question) => sends.filter((send) => isAnswer(send, question)))
  }
}

function isAnswer(send: RecentSend, question: Question): boolean {
  if (question.kind === 'thread') {
    return send.thread_id === question.thread_id && send.organization_id === question.organization_id
  }
  return send.message_id === question.message_id && send.inbox_uid === question.inbox_uid
}
