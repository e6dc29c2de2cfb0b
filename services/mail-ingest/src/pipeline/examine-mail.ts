import type { BlobStore } from '@restante/blobs'
import type { ParserPool, Report } from '@restante/mime'
import { UpstreamError } from '@restante/service'
import type { MailContent } from '../content/mail-content.ts'
import type { InboxScope } from '../inbound/store.ts'
import { withRawMail } from '../raw/read.ts'
import { readReport } from '../reports/read-report-step.ts'
import { WorkSpan } from '../telemetry/spans.ts'
import { authenticateSender, type SenderAuthenticationOptions, type SenderVerdict } from './authenticate-sender-step.ts'
import { type FindAnsweredOptions, findAnswered } from './find-answered-step.ts'
import { parseMail } from './parse-mail-step.ts'
import type { LeasedMail } from './queue.ts'
import { type SpamOptions, type SpamVerdict, scoreSpam } from './score-spam-step.ts'

/** What mails are examined with. */
export interface ExaminationTools extends SpamOptions {
  readonly blobs: BlobStore
  readonly parser: ParserPool
  readonly authentication: SenderAuthenticationOptions
  readonly answered: FindAnsweredOptions
}

/** A mail for its mailbox, with everything that was found out about it. */
export interface StorableMail {
  readonly action: 'store'
  readonly inbox: InboxScope
  readonly content: MailContent
  readonly sender: SenderVerdict
  readonly spam: SpamVerdict
  /** Its Message-ID may be that of a message which the inbox sent and which is not in the mailbox yet. */
  readonly idInDoubt: boolean
}

/** What is to become of a mail. */
export type Verdict =
  | StorableMail
  /** By rule it is put into no mailbox (mail 13). */
  | {
      readonly action: 'discard'
      readonly inbox: InboxScope
      readonly reason: 'dmarc' | 'virus'
      readonly sender: SenderVerdict
    }
  /** It came to a return path; without a report it is dropped. */
  | { readonly action: 'report'; readonly deliveryId: string; readonly report: Report | undefined }

/** A mail that is ready for the transaction of its effect. */
export interface ExaminedMail<V extends Verdict = Verdict> {
  readonly mail: LeasedMail
  readonly verdict: V
  /** For what the effect raises. */
  readonly span: WorkSpan
}

/** Finds out what is to become of a mail. It has no effect: what fails here is tried again (`Pipeline`). */
export async function examineMail(mail: LeasedMail, tools: ExaminationTools): Promise<ExaminedMail> {
  const span = new WorkSpan('process mail', mail.envelope.traceparent)
  try {
    return { mail, span, verdict: await span.within(() => examine(mail, tools)) }
  } catch (error) {
    span.fail()
    span.end()
    throw error
  }
}

async function examine(mail: LeasedMail, tools: ExaminationTools): Promise<Verdict> {
  return withRawMail(await readRaw(mail, tools.blobs), (raw) => examineRaw(mail, raw, tools))
}

async function examineRaw(mail: LeasedMail, raw: Buffer, tools: ExaminationTools): Promise<Verdict> {
  const { target } = mail
  if (target.kind === 'report') {
    const { deliveryId } = target
    return { action: 'report', deliveryId, report: await readReport(mail, raw, tools.parser) }
  }
  const { inbox } = target
  const [sender, content] = await Promise.all([
    authenticateSender(raw, mail.envelope, tools.authentication),
    parseMail(mail, raw, tools.parser),
  ])
  if (sender.discard) return { action: 'discard', inbox, reason: 'dmarc', sender }
  const authenticated = sender.authentication === 'pass' || sender.authentication === 'internal'
  const spam = await scoreSpam(mail, raw, content, authenticated, tools)
  if (spam.virus) return { action: 'discard', inbox, reason: 'virus', sender }
  const { idInDoubt } = await findAnswered(mail, content, inbox, tools.answered)
  return { action: 'store', inbox, content, sender, spam, idInDoubt }
}

/** Bytes that cannot be read now say nothing about the mail: it waits for them, and no attempt is counted. */
async function readRaw(mail: LeasedMail, blobs: BlobStore): Promise<Buffer> {
  try {
    return await blobs.buffer(mail.blob)
  } catch (cause) {
    throw new UpstreamError('the raw mail cannot be read', { cause })
  }
}
