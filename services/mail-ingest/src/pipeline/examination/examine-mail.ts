import { LIMITS } from '@restante/contracts/vocabulary'
import { readMentioned } from '@restante/mime'
import { UpstreamError } from '@restante/service/errors'
import { WorkSpan } from '@restante/service/telemetry'
import type { MailContent } from '../../content/mail-content.ts'
import { type DmarcTools, type DmarcVerdict, examineDmarcMail } from '../../dmarc/examine.ts'
import type { InboxScope } from '../../inbound/store.ts'
import type { InboxLists, NamedSenders } from '../../lists/inbox-lists.ts'
import type { ListOwner } from '../../lists/list-owner.ts'
import { type RawMailBytes, withRawMail } from '../../raw/bytes.ts'
import { isAuthenticated, type SenderVerdict } from '../../sender/authenticate-sender.ts'
import type { LeasedMail } from '../queue/queue.ts'
import { type AuthenticationTools, authenticate } from './authenticate.ts'
import { examineComplaint, examineReport, type ReportTools, type ReportVerdict } from './examine-report.ts'
import { type FindAnsweredOptions, findAnswered } from './find-answered.ts'
import { type ForwardTools, type ForwardVerdict, forwardToOperator } from './forward-to-operator.ts'
import { parseMail, readLeased } from './parse-mail.ts'
import { type SpamOptions, type SpamVerdict, scoreSpam } from './score-spam.ts'

/** The tools of an examination. */
export interface ExaminationTools extends SpamOptions, AuthenticationTools, ReportTools, ForwardTools, DmarcTools {
  readonly bytes: RawMailBytes
  readonly answers: FindAnsweredOptions
  readonly listOwner: ListOwner
}

/** A mail to be stored, with all results of its examination. */
export interface StorableMail {
  readonly action: 'store'
  readonly inbox: InboxScope
  readonly content: MailContent
  readonly sender: SenderVerdict
  readonly spam: SpamVerdict
  /** Compared with allow and block lists. */
  readonly senders: NamedSenders
  /** The lists that their owner confirms; undefined when nothing seemed to block the mail. */
  readonly confirmedLists: InboxLists | undefined
  /** Whether its Message-ID may be that of a message which the inbox has sent and which is not in the mailbox yet. */
  readonly idInDoubt: boolean
}

/** What is to be done with a mail. */
export type Verdict =
  | StorableMail
  /** A rule forbids storing it in a mailbox (mail 13). */
  | {
      readonly action: 'discard'
      readonly inbox: InboxScope
      readonly reason: 'dmarc' | 'virus'
      /** Undefined where the sender was not authenticated, because the mail was already discarded. */
      readonly sender: SenderVerdict | undefined
    }
  /** DNS failed for its sender: the mail waits if there is room, and is stored otherwise (mail 13). */
  | { readonly action: 'wait'; readonly domain: string; readonly otherwise: StorableMail }
  | ReportVerdict
  | DmarcVerdict
  | ForwardVerdict

/** A mail that is ready for the transaction of its effect. */
export interface ExaminedMail<V extends Verdict = Verdict> {
  readonly mail: LeasedMail
  readonly verdict: V
  /** For the events that the effect raises. */
  readonly span: WorkSpan
}

/** Determines what is to be done with a mail. Examining has no effect, so the pipeline can retry it after a failure. */
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
  return withRawMail(await readRaw(mail, tools.bytes), (raw) => examineRaw(mail, raw, tools))
}

async function examineRaw(mail: LeasedMail, raw: Buffer, tools: ExaminationTools): Promise<Verdict> {
  const { target } = mail
  if (target.kind === 'report') return examineReport(mail, target.deliveryId, raw, tools)
  if (target.kind === 'complaint') return examineComplaint(mail, raw, tools)
  if (target.kind === 'dmarc') return examineDmarc(mail, raw, tools)
  if (target.kind === 'operator') return forwardToOperator(mail, raw, tools)
  const { inbox } = target
  // First and alone: what has a virus is not parsed.
  const scanned = await tools.viruses?.scan(mail, raw)
  if (scanned === 'virus') return { action: 'discard', inbox, reason: 'virus', sender: undefined }
  const [judged, content] = await Promise.all([authenticate(mail, raw, tools), parseMail(mail, raw, tools.parser)])
  const sender = forShownAuthor(judged, content)
  if (sender.discard) return { action: 'discard', inbox, reason: 'dmarc', sender }
  const scored = await scoreSpam(mail, raw, content, isAuthenticated(sender), tools)
  if (scored.virus) return { action: 'discard', inbox, reason: 'virus', sender }
  const { idInDoubt } = await findAnswered(mail, content, inbox, tools.answers)
  const spam = scanned === 'suspicious' ? { ...scored, spam: true } : scored
  const senders = content.author === undefined ? { mentioned: readMentioned(raw) } : { author: content.author }
  // An entry that arrives after the mail was taken makes its transaction fail, and the mail is taken again.
  const confirmedLists = mail.listed ? await tools.listOwner.confirm({ inbox, senders }, mail) : undefined
  const storable = { action: 'store', inbox, content, sender, spam, senders, confirmedLists, idInDoubt } as const
  const domain = sender.unanswered.length > 0 ? sender.authentication.from_domain : undefined
  return domain === undefined ? storable : { action: 'wait', domain, otherwise: storable }
}

/**
 * A successful authentication applies only to the address that was examined. When the mailbox shows no author or
 * another one, because the header could not be read completely, the mail is unauthenticated.
 */
function forShownAuthor(sender: SenderVerdict, content: MailContent): SenderVerdict {
  if (!isAuthenticated(sender) || content.author === sender.author) return sender
  return { ...sender, authentication: { ...sender.authentication, verdict: 'none' } }
}

/** A failure to read the bytes says nothing about the mail, so the mail is retried and no attempt is counted. */
async function readRaw(mail: LeasedMail, bytes: RawMailBytes): Promise<Buffer> {
  try {
    return await bytes.buffer(mail.blob)
  } catch (cause) {
    throw new UpstreamError('the raw mail cannot be read', { cause })
  }
}

async function examineDmarc(mail: LeasedMail, raw: Buffer, tools: ExaminationTools): Promise<DmarcVerdict> {
  if (mail.attempts > LIMITS.inbound.attempts || mail.overdue) return { action: 'drop', why: 'no_dmarc_report' }
  const [sender, read] = await Promise.all([authenticate(mail, raw, tools), readLeased(mail, raw, tools.parser)])
  return examineDmarcMail({ recipient: mail.recipient, raw, read, sender }, tools)
}
