import { candidateIds } from '@restante/mime'
import type { Queryable } from '@restante/service/database'
import type { MessageRow } from '../mailbox/rows.ts'
import { Carriers } from './carriers.ts'
import { RememberedIds } from './remembered-ids.ts'

/** Finds the threads of received mails that are stored in one transaction, each of which sees the earlier ones. */
export class ThreadFinder {
  readonly #carriers: Carriers
  readonly #remembered: RememberedIds

  private constructor(carriers: Carriers, remembered: RememberedIds) {
    this.#carriers = carriers
    this.#remembered = remembered
  }

  /** Reads the messages that these mails may belong to. The caller holds the locks of their mailboxes. */
  static async of(db: Queryable, messages: readonly MessageRow[]): Promise<ThreadFinder> {
    const mails = messages.map((message) => ({ message, named: namedBy(message) }))
    const wanted = mails.map(({ message: { inbox_uid, header_id }, named }) => ({
      inbox_uid,
      ids: [header_id, ...named],
    }))
    const [carriers, remembered] = await Promise.all([Carriers.of(db, wanted), RememberedIds.of(db, mails)])
    return new ThreadFinder(carriers, remembered)
  }

  /** Whether another message of the inbox has the Message-ID of a mail's header as its `message_id`. */
  isTaken({ inbox_uid, header_id }: MessageRow): boolean {
    return this.#carriers.isTaken(inbox_uid, header_id)
  }

  /**
   * Assigns a mail to the thread that it joins: by its reply headers; otherwise, if its Message-ID is taken, that of
   * the message which has it; otherwise by ids that earlier mails referred to without a match; otherwise a new one
   * (mail 13.1).
   */
  async place(mail: MessageRow): Promise<MessageRow> {
    const named = namedBy(mail)
    const answered = await this.#carriers.threadOf(mail, named)
    if (answered !== undefined) return { ...mail, thread_id: answered }
    const same = this.isTaken(mail) ? await this.#carriers.threadOf(mail, [mail.header_id]) : undefined
    const thread_id = same ?? this.#remembered.threadOf(mail, named) ?? mail.thread_id
    const placed = { ...mail, thread_id }
    this.#remembered.add(placed, named)
    return placed
  }

  /** Makes a stored mail visible to later ones. */
  add(message: MessageRow): void {
    this.#carriers.add(message)
  }

  /** Saves ids without a match. Their threads must be stored. */
  async save(tx: Queryable): Promise<void> {
    await this.#remembered.save(tx)
  }
}

/** The ids that a mail's reply headers name, best first. */
function namedBy({ in_reply_to, references }: MessageRow): string[] {
  return candidateIds(in_reply_to ?? undefined, references)
}
