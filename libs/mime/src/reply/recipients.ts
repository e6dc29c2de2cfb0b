import { normalizeAddress } from '../addresses/address.ts'
import { bareAddress } from '../addresses/mailboxes.ts'

/** What a reply needs of the message it answers. Addresses are display strings. */
export interface ReplySource {
  readonly messageId: string
  /** As it is shown and quoted. */
  readonly from: string
  /** The mailbox that an answer goes to without Reply-To; undefined where `From` does not name exactly one. */
  readonly author: string | undefined
  readonly replyTo: readonly string[]
  readonly to: readonly string[]
  readonly cc: readonly string[]
  /** Oldest first. */
  readonly references: readonly string[]
  readonly subject?: string
  readonly text?: string
  readonly html?: string
  readonly timestamp: Date
  /** Whether the replying inbox sent it: then an answer goes to its recipients. */
  readonly sentByInbox: boolean
}

/**
 * `to` of a reply without recipients of its own: Reply-To, otherwise the author; for the inbox's own message its `to`
 * (mail 8.3).
 */
export function replyRecipients(source: Pick<ReplySource, 'author' | 'replyTo' | 'to' | 'sentByInbox'>): string[] {
  return source.sentByInbox ? [...source.to] : answerTo(source)
}

/**
 * `to` and `cc` of a reply to all: the sender and all recipients of the source, each once, never the replying inbox
 * itself (mail 8.3). Both are empty when no one else was involved.
 */
export function replyAllRecipients(
  source: Pick<ReplySource, 'author' | 'replyTo' | 'to' | 'cc'>,
  ownAddress: string,
): { to: string[]; cc: string[] } {
  const seen = new Set([normalizeAddress(ownAddress)])
  const fresh = (display: string): boolean => {
    const key = normalizeAddress(bareAddress(display))
    return !seen.has(key) && seen.add(key).size > 0
  }
  const to = [...source.to, ...answerTo(source)].filter(fresh)
  return { to, cc: source.cc.filter(fresh) }
}

/** `In-Reply-To` and `References` of an answer (mail 8.3, RFC 5322 3.6.4). */
export function threadingHeaders(source: Pick<ReplySource, 'messageId' | 'references'>): {
  inReplyTo: string
  references: string[]
} {
  const earlier = source.references.filter((id) => id !== source.messageId)
  return { inReplyTo: source.messageId, references: [...earlier, source.messageId] }
}

/** Text in `From` is not an address that an answer could go to, whatever it looks like (mail 13). */
function answerTo({ author, replyTo }: Pick<ReplySource, 'author' | 'replyTo'>): string[] {
  if (replyTo.length > 0) return [...replyTo]
  return author === undefined ? [] : [author]
}
