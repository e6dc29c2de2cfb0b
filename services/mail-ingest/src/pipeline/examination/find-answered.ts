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
 * Ensures that the messages of this inbox which a mail answers, or is itself, are in the mailbox: a quick answer may
 * arrive before the copy of what it answers, and would start a new thread; a mail that a list or an alias sends back
 * may arrive before the original, and would take its id. Only ids of the form that this inbox creates are looked up.
 * @returns whether the mail's own id may still be that of a sent message which is not in the mailbox: then it must not
 * take the id, or the copy of the sent message could never be stored.
 */
export async function findAnswered(
  mail: LeasedMail,
  content: MailContent,
  inbox: InboxScope,
  options: FindAnsweredOptions,
): Promise<{ readonly idInDoubt: boolean }> {
  // A mail that is handed over internally never goes to the inbox that sent it.
  const isKnown = mail.envelope.via === 'internal' || (await findSent([content.messageId], inbox, options))
  await findSent(candidateIds(content.inReplyTo ?? undefined, content.references), inbox, options)
  return { idInDoubt: !isKnown }
}

/**
 * InboxSlots the sent message that one of these ids names, best first, unless a better one names a stored message.
 * @returns false when it could not be determined whether there is one.
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
    // Threading does not hold up the mail.
    log.warn({ err: error, inbox_uid: inbox.inbox_uid }, 'sent message that a mail answers could not be looked up')
    return false
  }
}
