import { LIMITS } from '@restante/contracts'
import type { ParserPool, ReadMail } from '@restante/mime'
import { bareContent, contentOf, type MailContent, unparsedContent } from '../content/mail-content.ts'
import { parsed } from '../content/read-mail.ts'
import type { LeasedMail } from './queue.ts'

/**
 * Reads a mail in a thread that may die of it. Each attempt was counted before it began, so a mail that kills its
 * threads, or the process, is stored from its headers after three, and without them after three more: what
 * got 250 is in its mailbox whatever is in it. A slow mail is stored from its headers as soon as it is overdue.
 * @throws ParserOverdueError: to be tried in the slow lane; ParserCrashedError, ParserTimeoutError: to be tried again; UpstreamError: to
 * be tried again, and no attempt of this mail.
 */
export async function parseMail(mail: LeasedMail, raw: Buffer, parser: ParserPool): Promise<MailContent> {
  const { attempts } = LIMITS.inbound
  if (mail.attempts > 2 * attempts) return bareContent(raw)
  if (mail.attempts > attempts || mail.overdue) return unparsedContent(raw)
  return contentOf(await readLeased(mail, raw, parser), raw)
}

/** Reads a mail in its lane: the first attempt is short, so that no mail keeps the threads that the others need. */
export function readLeased(mail: LeasedMail, raw: Buffer, parser: ParserPool): Promise<ReadMail> {
  return parsed(mail.slow ? parser.readSlowly(raw) : parser.readFirst(raw))
}
