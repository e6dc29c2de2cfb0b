import { compose, type DkimKeys, parseAddress } from '@restante/mime'
import { type Database, sql } from '@restante/service/database'
import { invalid } from '@restante/service/errors'
import type { InstallationMail } from '../delivery/outbound/installation-mail.ts'

/** A plain text to one person. */
export interface SystemMessage {
  /** Identifies the mail: the same id is the same mail. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface SystemMailOptions {
  readonly db: Database
  readonly mails: InstallationMail
  readonly domain: string
  readonly sender: { readonly name: string; readonly address: string }
  readonly dkim: DkimKeys | undefined
}

const FAILED = sql<{ id: string }, [id: string]>(`
select s.id from sends s join deliveries d on d.send_id = s.id
 where s.id = $1 and s.organization_id is null and d.state in ('bounced', 'rejected')`)

/** Sends the codes of agent sign-up. They belong to no inbox: no copy is kept, and no event is published. */
export class SystemMail {
  readonly #options: SystemMailOptions

  constructor(options: SystemMailOptions) {
    this.#options = options
  }

  /**
   * Accepts the mail, durably; once per id, however often it is called.
   * @throws ApiError 400 when the address cannot be mailed.
   */
  async send(message: SystemMessage): Promise<void> {
    const recipient = this.#recipientOf(message.to)
    await this.#options.mails.queue(message.id, recipient, () => this.#compose(message, recipient))
  }

  /** Whether the other side refused the mail permanently, or has bounced it since. */
  async hasFailed(id: string): Promise<boolean> {
    return (await this.#options.db.query(FAILED, id)).length > 0
  }

  /**
   * Inboxes here get no mail of the installation: it would be handed over to them as it is in the blob store, sealed.
   */
  #recipientOf(to: string): string {
    const result = parseAddress(to)
    if (!result.ok) throw invalid(['to'], result.problem)
    const { address } = result.address
    if (!this.#options.mails.isInside(address)) return address
    throw invalid(['to'], 'Must not be an address of this installation')
  }

  #compose({ id, subject, text }: SystemMessage, to: string) {
    const { domain, sender, dkim } = this.#options
    return compose({
      from: { name: sender.name, address: sender.address },
      to: [{ address: to }],
      subject,
      text,
      messageId: `<${id}@${domain}>`,
      date: new Date(),
      // Automatic replies must not answer a code (RFC 3834).
      serviceHeaders: { 'Auto-Submitted': 'auto-generated' },
      ...(dkim && { dkim }),
    })
  }
}
