import type { Queryable } from '@restante/service/database'
import type { MessageRow } from '../mailbox/rows/rows.ts'
import { Carriers, type ThreadChoice } from './carriers.ts'
import { RememberedIds } from './remembered-ids.ts'

/** A received mail, and the ids that its reply headers name, best first. */
interface NamingMail {
  readonly message: MessageRow
  readonly named: readonly string[]
}

interface FoundThread {
  readonly thread_id: string
  readonly answered: boolean
  readonly isNamed: boolean
}

/** Finds the threads of received mails that are stored in one transaction, each of which sees the earlier ones. */
export class ThreadFinder {
  readonly #carriers: Carriers
  readonly #remembered: RememberedIds
  /** The ids that the reply headers of each mail name, best first, by the id of its row. */
  readonly #named: ReadonlyMap<string, readonly string[]>
  /** Threads of placed mails in which the inbox has sent. */
  readonly #answered = new Set<string>()

  private constructor(carriers: Carriers, remembered: RememberedIds, named: ReadonlyMap<string, readonly string[]>) {
    this.#named = named
    this.#carriers = carriers
    this.#remembered = remembered
  }

  /**
   * Reads the messages that these mails may belong to, by the ids that they name, best first. The caller holds the locks
   * of their mailboxes.
   */
  static async of(db: Queryable, mails: readonly NamingMail[]): Promise<ThreadFinder> {
    const wanted = mails.map(({ message: { inbox_uid, header_id }, named }) => ({
      inbox_uid,
      ids: [header_id, ...named],
    }))
    const [carriers, remembered] = await Promise.all([Carriers.of(db, wanted), RememberedIds.of(db, mails)])
    const named = new Map(mails.map(({ message, named }) => [message.id, named]))
    return new ThreadFinder(carriers, remembered, named)
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
    const found = await this.#find(mail, 'same labels')
    const { thread_id, answered } = found ?? { thread_id: mail.thread_id, answered: false }
    const placed = { ...mail, thread_id }
    if (answered) this.#answered.add(thread_id)
    if (!found?.isNamed) this.#remembered.add(placed, this.#namedBy(mail), answered)
    return placed
  }

  /**
   * Whether a mail belongs, by the ids that it names and whatever the labels, to a thread in which the inbox has sent: it
   * is judged by the reply lists then (mail 12.4, 13.1).
   */
  async isReply(mail: MessageRow): Promise<boolean> {
    return (await this.#find(mail, 'any labels'))?.answered ?? false
  }

  /** Makes a placed mail visible to later ones. */
  add(message: MessageRow): void {
    this.#carriers.add(message, this.#answered.has(message.thread_id))
  }

  /** The thread of a mail. `isNamed`: its reply headers name a message of it. */
  async #find(mail: MessageRow, choice: ThreadChoice): Promise<FoundThread | undefined> {
    const named = this.#namedBy(mail)
    const carrier = await this.#carriers.find(mail, named, choice)
    if (carrier !== undefined) return { ...carrier, isNamed: true }
    const same = this.isTaken(mail) ? await this.#carriers.find(mail, [mail.header_id], choice) : undefined
    const found = same ?? this.#remembered.find(mail, named, choice)
    return found && { ...found, isNamed: false }
  }

  /** Saves ids without a match. Their threads must be stored. */
  async save(tx: Queryable): Promise<void> {
    await this.#remembered.save(tx)
  }

  #namedBy({ id }: MessageRow): readonly string[] {
    return this.#named.get(id) ?? []
  }
}
