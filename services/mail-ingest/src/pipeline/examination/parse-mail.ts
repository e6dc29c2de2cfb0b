import { LIMITS } from '@restante/contracts/vocabulary'
import type { ParserPool, ReadMail } from '@restante/mime'
import { bareContent, contentOf, type MailContent, unparsedContent } from '../../content/mail-content.ts'
import { parsed } from '../../content/read-mail.ts'
import type { LeasedMail } from '../queue/queue.ts'

/**
 * Parses a mail in a thread that may die without harm. Attempts are counted before they begin. A mail that kills its
 * threads, or the process, is therefore stored from its headers after three attempts, and without them after three
 * more: an accepted mail reaches its mailbox whatever its content. A slow mail is stored from its headers as soon as it
 * is overdue.
 * @throws ParserOverdueError: retry in the slow lane; ParserCrashedError, ParserTimeoutError: retry; UpstreamError:
 * retry without counting an attempt.
 */
export async function parseMail(mail: LeasedMail, raw: Buffer, parser: ParserPool): Promise<MailContent> {
  const { attempts } = LIMITS.inbound
  if (mail.attempts > 2 * attempts) return bareContent(raw)
  if (mail.attempts > attempts || mail.overdue) return unparsedContent(raw)
  return contentOf(await readLeased(mail, raw, parser), raw)
}

/**
 * Parses a mail in its lane. The time limit of the first attempt is short, so that no mail occupies the threads that
 * the others need.
 */
export function readLeased(mail: LeasedMail, raw: Buffer, parser: ParserPool): Promise<ReadMail> {
  return parsed(mail.slow ? parser.readSlowly(raw) : parser.readFirst(raw))
}
