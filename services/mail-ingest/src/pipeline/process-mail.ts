import type { BlobStore } from '@restante/blobs'
import type { Outbox } from '@restante/messaging'
import type { ParserPool } from '@restante/mime'
import { type Logger, UpstreamError } from '@restante/service'
import type { Db } from '../database.ts'
import type { ByteBudget } from '../housekeeping/byte-budget.ts'
import type { InboxScope } from '../inbound/store.ts'
import { handOnReport } from '../reports/hand-on-report-step.ts'
import { authenticateSender, type SenderAuthenticationOptions } from './authenticate-sender-step.ts'
import { discardMail } from './discard-mail-step.ts'
import { type FindAnsweredOptions, findAnswered } from './find-answered-step.ts'
import { parseMail } from './parse-mail-step.ts'
import type { LeasedMail } from './queue.ts'
import { scoreSpam } from './score-spam-step.ts'
import { storeMessage } from './store-message-step.ts'

/** What the steps work with. */
export interface PipelineTools {
  readonly db: Db
  readonly blobs: BlobStore
  readonly outbox: Outbox
  readonly parser: ParserPool
  readonly hostname: string
  readonly authentication: SenderAuthenticationOptions
  readonly rspamdUrl: string | undefined
  readonly answered: FindAnsweredOptions
  /** For raw mails, each of which is in memory several times while it is read and judged. */
  readonly memory: ByteBudget
  /** Called when bytes may have become unused. */
  readonly sweep: () => void
  readonly log: Logger
}

/** What a mail's log line says of its outcome. */
export type ProcessingFacts = Readonly<Record<string, unknown>> & { readonly outcome: string }

/** Takes a mail from the queue to where it belongs. What fails here is tried again (`Pipeline`). */
export function processMail(mail: LeasedMail, tools: PipelineTools): Promise<ProcessingFacts> {
  return tools.memory.within(mail.size, () => processInMemory(mail, tools))
}

async function processInMemory(mail: LeasedMail, tools: PipelineTools): Promise<ProcessingFacts> {
  const raw = await readRaw(mail, tools.blobs)
  const { target } = mail
  const facts =
    target.kind === 'report'
      ? { outcome: await handOnReport(mail, target.deliveryId, raw, tools) }
      : await deliver(mail, target.inbox, raw, tools)
  if (facts.outcome !== 'stored') tools.sweep()
  return facts
}

/** Bytes that cannot be read now say nothing about the mail: it waits for them, and no attempt is counted. */
async function readRaw(mail: LeasedMail, blobs: BlobStore): Promise<Buffer> {
  try {
    return await blobs.buffer(mail.blob)
  } catch (cause) {
    throw new UpstreamError('the raw mail cannot be read', { cause })
  }
}

async function deliver(
  mail: LeasedMail,
  inbox: InboxScope,
  raw: Buffer,
  tools: PipelineTools,
): Promise<ProcessingFacts> {
  const [sender, content] = await Promise.all([
    authenticateSender(raw, mail.envelope, tools.authentication),
    parseMail(mail, raw, tools.parser),
  ])
  const facts = { inbox_uid: inbox.inbox_uid, authentication: sender.authentication }
  if (sender.discard) return { ...facts, outcome: await discard(mail, inbox, 'dmarc', tools) }
  const authenticated = sender.authentication === 'pass' || sender.authentication === 'internal'
  const spam = await scoreSpam(mail, raw, content, authenticated, tools)
  if (spam.virus) return { ...facts, outcome: await discard(mail, inbox, 'virus', tools) }
  await findAnswered(mail, content, inbox, tools.answered)
  const stored = await storeMessage({ mail, inbox, content, sender, spam }, tools)
  return { ...facts, spam_score: spam.score, parsed: content.parsed, ...stored }
}

async function discard(
  mail: LeasedMail,
  inbox: InboxScope,
  reason: 'dmarc' | 'virus',
  { db, outbox }: PipelineTools,
): Promise<string> {
  await db.transaction((tx) => discardMail(tx, outbox, mail, inbox, reason))
  return reason
}
