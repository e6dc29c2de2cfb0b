import { candidateIds } from '@restante/mime'
import type { Logger, ServiceClient } from '@restante/service'
import type { MailContent } from '../content/mail-content.ts'
import type { Db } from '../database.ts'
import type { InboxScope } from '../inbound/store.ts'
import { messagesWithIds } from '../mailbox/known-ids.ts'
import type { SentPlacement } from '../sent/placement.ts'

export interface FindAnsweredOptions {
  readonly db: Db
  readonly mailSend: ServiceClient
  readonly placement: SentPlacement
  readonly log: Logger
}

/** Ids asked about in one call. */
const ASKED = 100

/**
 * Makes sure that the message which a mail answers is in the mailbox: an answer from nearby may overtake the copy of
 * what it answers, and would start a thread of its own. Only ids that this inbox may have made are asked about.
 */
export async function findAnswered(
  content: MailContent,
  inbox: InboxScope,
  options: FindAnsweredOptions,
): Promise<void> {
  const { db, mailSend, placement, log } = options
  const domain = inbox.address.slice(inbox.address.lastIndexOf('@'))
  const candidates = candidateIds(content.inReplyTo ?? undefined, content.references)
  const ours = candidates.filter((id) => id.toLowerCase().endsWith(`${domain}>`)).slice(0, ASKED)
  if (ours.length === 0) return
  if ((await messagesWithIds(db, inbox.inbox_uid, candidates)).length > 0) return
  try {
    const { copy } = await mailSend.call('mail-send.getSentCopy', { inbox_uid: inbox.inbox_uid, message_ids: ours })
    if (copy) await placement.place(copy)
  } catch (error) {
    // The mail is not held up for its thread.
    log.warn({ err: error, inbox_uid: inbox.inbox_uid }, 'the message that a mail answers could not be looked up')
  }
}
