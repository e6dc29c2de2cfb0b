import { candidateIds } from '@restante/mime'
import type { Logger, ServiceClient } from '@restante/service'
import type { MailContent } from '../content/mail-content.ts'
import type { Db } from '../database.ts'
import type { InboxScope } from '../inbound/store.ts'
import { messagesWithIds } from '../mailbox/known-ids.ts'
import type { SentPlacement } from '../sent/placement.ts'
import type { LeasedMail } from './queue.ts'

export interface FindAnsweredOptions {
  readonly db: Db
  readonly mailSend: ServiceClient
  readonly placement: SentPlacement
  readonly log: Logger
}

/** Ids asked about in one call. */
const ASKED = 100

/**
 * Makes sure that the messages of this inbox which a mail answers, or is itself, are in the mailbox: an answer from
 * nearby may overtake the copy of what it answers, and would start a thread of its own; what a list or an alias sends
 * back may overtake the original, and would take its id. Only ids that this inbox may have made are asked about.
 */
export async function findAnswered(
  mail: LeasedMail,
  content: MailContent,
  inbox: InboxScope,
  options: FindAnsweredOptions,
): Promise<void> {
  // What is handed over inside never goes to the inbox that sent it.
  if (mail.envelope.via !== 'internal') await findSent([content.messageId], inbox, options)
  await findSent(candidateIds(content.inReplyTo ?? undefined, content.references), inbox, options)
}

/** Places the sent message that one of these ids names, best first, unless one is in the mailbox already. */
async function findSent(ids: readonly string[], inbox: InboxScope, options: FindAnsweredOptions): Promise<void> {
  const { db, mailSend, placement, log } = options
  const domain = inbox.address.slice(inbox.address.lastIndexOf('@'))
  const ours = ids.filter((id) => id.toLowerCase().endsWith(`${domain}>`)).slice(0, ASKED)
  if (ours.length === 0) return
  if ((await messagesWithIds(db, [{ inbox_uid: inbox.inbox_uid, ids }])).length > 0) return
  try {
    const { copy } = await mailSend.call('mail-send.getSentCopy', { inbox_uid: inbox.inbox_uid, message_ids: ours })
    if (copy) await placement.place(copy)
  } catch (error) {
    // The mail is not held up for its thread.
    log.warn({ err: error, inbox_uid: inbox.inbox_uid }, 'the message that a mail answers could not be looked up')
  }
}
