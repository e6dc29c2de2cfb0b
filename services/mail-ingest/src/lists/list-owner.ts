import { MAILS_ASKED_ABOUT } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import { Batcher } from '@restante/service/concurrency'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { InboxLists, type JudgedMail, namesOf } from './inbox-lists.ts'
import { listQuestions } from './telemetry.ts'

export interface ListOwnerOptions {
  readonly db: Database
  readonly mailSend: ServiceClient<'mail-ingest'>
  readonly log: Logger
  /** How long a mail waits for the owner after its acceptance. Default 5 minutes. */
  readonly patienceMs?: number
}

/** Questions in progress. More of them would each be about fewer mails. */
const AT_ONCE = 2

/**
 * Confirms that lists block a mail. The projection of lists may lag, and an entry that was deleted a moment ago must block
 * nothing more: so mail-send is asked about the mails that the projection would block, and about no other.
 */
export class ListOwner {
  readonly #options: ListOwnerOptions
  readonly #known: Batcher<JudgedMail, InboxLists>
  readonly #questions: Batcher<JudgedMail, InboxLists>

  constructor(options: ListOwnerOptions) {
    const { db, mailSend } = options
    this.#options = options
    this.#known = new Batcher({
      maxItems: MAILS_ASKED_ABOUT,
      concurrency: AT_ONCE,
      work: async (mails) => {
        const lists = await InboxLists.of(db, mails)
        return mails.map(() => lists)
      },
    })
    this.#questions = new Batcher({
      maxItems: MAILS_ASKED_ABOUT,
      concurrency: AT_ONCE,
      work: (mails) => ask(mailSend, mails),
    })
  }

  /**
   * The lists by which a mail may be blocked; undefined when the projection blocks it in no direction. After the time for
   * which a mail waits, they are those of the projection.
   * @throws UpstreamError while the owner does not answer: retry without counting an attempt.
   */
  async confirm(mail: JudgedMail, { id, receivedAt }: { readonly id: string; readonly receivedAt: Date }) {
    const { log, patienceMs = LIMITS.inbound.listOwner } = this.#options
    const known = await this.#known.add(mail)
    if (!known.mayBlock(mail)) return undefined
    try {
      const confirmed = await this.#questions.add(mail)
      listQuestions.inc({ outcome: confirmed.mayBlock(mail) ? 'confirmed' : 'lifted' })
      return confirmed
    } catch (error) {
      listQuestions.inc({ outcome: 'unanswered' })
      if (Date.now() - receivedAt.getTime() < patienceMs) throw error
      log.warn({ err: error, mail: id }, 'owner of lists unavailable, mail judged by the projection')
      return known
    }
  }
}

async function ask(mailSend: ServiceClient<'mail-ingest'>, mails: readonly JudgedMail[]): Promise<InboxLists[]> {
  const question = mails.map(({ inbox: { organization_id, pod_id, inbox_uid }, senders }) => ({
    organization_id,
    pod_id,
    inbox_uid,
    names: [...namesOf(senders)],
  }))
  const { mails: answers } = await mailSend.call('mail-send.findListEntries', { mails: question })
  return mails.map((mail, index) => {
    const found = answers[index]
    if (found === undefined) throw new Error('mail-send did not answer about every mail')
    return InboxLists.ofOwner(mail, found)
  })
}
