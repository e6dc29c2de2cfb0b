import type { Logger } from '@restante/service/telemetry'
import type { MailContent } from '../../content/mail-content.ts'
import type { LeasedMail } from '../queue/queue.ts'
import { askRspamd } from './rspamd.ts'
import { SPAM_THRESHOLD, spamScore } from './spam-rules.ts'

export interface SpamVerdict {
  readonly spam: boolean
  /** rspamd found a virus, by its antivirus module: to be discarded (mail 13). */
  readonly virus: boolean
  readonly score: number
}

export interface SpamOptions {
  /** rspamd worker; undefined: the built-in rules are used. */
  readonly rspamdUrl: string | undefined
  readonly log: Logger
}

/**
 * Decides whether a mail is spam. When rspamd does not answer, the built-in rules decide: mail does not wait for it.
 */
export async function scoreSpam(
  mail: LeasedMail,
  raw: Buffer,
  content: MailContent,
  authenticated: boolean,
  options: SpamOptions,
): Promise<SpamVerdict> {
  if (options.rspamdUrl !== undefined) {
    try {
      return await askRspamd(options.rspamdUrl, mail, raw)
    } catch (error) {
      options.log.warn({ err: error, mail: mail.id }, 'rspamd unavailable, built-in spam rules used')
    }
  }
  const { score } = spamScore(content, authenticated)
  return { spam: score >= SPAM_THRESHOLD, virus: false, score }
}
