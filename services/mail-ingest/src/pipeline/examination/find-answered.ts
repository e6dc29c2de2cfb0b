import { candidateIds, isMadeMessageId } from '@restante/mime'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import type { MailContent } from '../../content/mail-content.ts'
import type { InboxScope } from '../../inbound/store.ts'
import type { SentPlacement } from '../../sent/placement.ts'
import { storedIds } from '../../threading/carriers.ts'
import type { LeasedMail } from '../queue/queue.ts'

export interface FindAnsweredOptions {
  readonly db: Database
  readonly mailSend: ServiceClient
  readonly placement: SentPlacement
  readonly log: Logger
}

/** Most ids per call. */
const ASKED = 100

/**
 * Ensures that two kinds of sent messages are in the mailbox before a mail is stored: the message that the mail
 * answers, and the original of a mail that comes back from a list or an alias. A quick answer may arrive before the
 * copy of what it answers, and would start a new thread; a mail that comes back may arrive before the copy of its
 * original, and would take its id. Only ids of the form that this inbox creates are looked up.
 * @returns `idInDoubt`: whether the id of the mail may be that of a sent message which is not in the mailbox yet. The
 * mail must not take such an id, or the copy of the sent message could never be stored.
 */
export async function findAnswered(
  mail: LeasedMail,
  content: MailContent,
  inbox: InboxScope,
  options: FindAnsweredOptions,
): Promise<{ readonly idInDoubt: boolean }> {
  // A mail that is handed over internally never goes to the inbox that sent it.
  const isKnown = mail.envelope.via === 'internal' || (await findSent([content.messageId], inbox, options))
  await findSent(candidateIds(content.answeredIds, content.references), inbox, options)
  return { idInDoubt: !isKnown }
}

/**
 * Places the copy of the sent message that one of these ids names. The ids are given best first; nothing is placed when
 * a better one names a stored message.
 * @returns false when it could not be determined whether there is such a message.
 */
async function findSent(ids: readonly string[], inbox: InboxScope, options: FindAnsweredOptions): Promise<boolean> {
  const { db, mailSend, placement, log } = options
  const domain = inbox.address.slice(inbox.address.lastIndexOf('@') + 1)
  const isOurs = (id: string): boolean => isMadeMessageId(id, domain)
  if (!ids.some(isOurs)) return true
  const stored = await storedIds(db, inbox.inbox_uid, ids)
  const best = ids.findIndex((id) => stored.has(id))
  const ours = (best < 0 ? ids : ids.slice(0, best)).filter(isOurs).slice(0, ASKED)
  if (ours.length === 0) return true
  try {
    const { copy } = await mailSend.call('mail-send.getSentCopy', { inbox_uid: inbox.inbox_uid, message_ids: ours })
    if (copy) await placement.place(copy)
    return true
  } catch (error) {
    // The mail is stored all the same, at worst in a thread of its own.
    log.warn({ err: error, inbox_uid: inbox.inbox_uid }, 'sent message that a mail answers could not be looked up')
    return false
  }
}
