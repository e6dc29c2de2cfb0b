import { candidateIds } from '@restante/mime'
import type { Queryable } from '@restante/service'
import { RememberedIds } from './remembered-ids.ts'
import type { MessageRow } from './rows.ts'
import { Carriers } from './threading.ts'

/** Finds the threads of received mails that are stored in one transaction, each of which knows those ahead of it. */
export class ThreadFinder {
  readonly #carriers: Carriers
  readonly #remembered: RememberedIds

  private constructor(carriers: Carriers, remembered: RememberedIds) {
    this.#carriers = carriers
    this.#remembered = remembered
  }

  /** Reads what these mails may belong to. The caller holds the locks of their mailboxes. */
  static async of(db: Queryable, messages: readonly MessageRow[]): Promise<ThreadFinder> {
    const mails = messages.map((message) => ({ message, named: namedBy(message) }))
    const wanted = mails.map(({ message: { inbox_uid, header_id }, named }) => ({
      inbox_uid,
      ids: [header_id, ...named],
    }))
    return new ThreadFinder(await Carriers.of(db, wanted), await RememberedIds.of(db, mails))
  }

  /** Whether the id in a mail's header names another message of its inbox on the wire. */
  isTaken({ inbox_uid, header_id }: MessageRow): boolean {
    return this.#carriers.isTaken(inbox_uid, header_id)
  }

  /**
   * Puts a mail into the thread that it joins: by what its reply headers name; else, where its Message-ID is taken, that of
   * the message which carries it; else by what earlier mails named in vain; else one of its own (mail 13.1).
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

  /** Makes a mail that is stored known to those that follow it. */
  add(message: MessageRow): void {
    this.#carriers.add(message)
  }

  /** Saves the ids that were named in vain. Their threads must be stored. */
  async save(tx: Queryable): Promise<void> {
    await this.#remembered.save(tx)
  }
}

/** The ids that a mail names as answered, best first. */
function namedBy({ in_reply_to, references }: MessageRow): string[] {
  return candidateIds(in_reply_to ?? undefined, references)
}
