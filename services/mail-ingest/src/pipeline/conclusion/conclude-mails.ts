import { randomUUID } from 'node:crypto'
import { type DiscardReason, topics } from '@restante/contracts/events'
import type { EncodedEvent, Outbox } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { deletedAmong } from '@restante/tenancy'
import { acceptedEvents } from '../../inbound/accepted-event.ts'
import { discardedEvent, inboundTopic } from '../../inbound/discarded-event.ts'
import { type AcceptedMail, type InboxScope, insertInbound, type NewInbound } from '../../inbound/store.ts'
import { rawMails } from '../../raw/store.ts'
import { type WaitingCandidate, waitingMails } from '../../waiting/store.ts'
import type { ExaminedMail, StorableMail } from '../examination/examine-mail.ts'
import type { ReportVerdict } from '../examination/examine-report.ts'
import { type LeasedMail, queue } from '../queue/queue.ts'
import { countDmarcReports } from './count-dmarc-reports.ts'
import { feedbackEvent } from './feedback-events.ts'
import { type Outcome, storeMessages } from './store-messages.ts'

/** The outcome of a mail for its log line. */
export type ProcessingFacts = Readonly<Record<string, unknown>> & { readonly outcome: string }

export interface ConcludingTools {
  readonly db: Database
  readonly outbox: Outbox
  /** This server's name in trace headers. */
  readonly hostname: string
}

/** The outcome of a mail, and its events. Bytes that are not stored are deleted when no other row needs them. */
interface Conclusion {
  readonly facts: ProcessingFacts
  readonly events: readonly EncodedEvent[]
  readonly kept: boolean
  /** A row of the queue that this one leaves behind, and that takes over its bytes. */
  readonly next?: { readonly mail: AcceptedMail; readonly rows: readonly NewInbound[] }
}

/**
 * Stores the effects of examined mails, in the given order and in one transaction: messages and their threads, events,
 * reports, and the end of their rows in the queue. The transaction fails as a whole when the lease of any of them was
 * lost.
 * @throws LeaseLostError
 */
export function concludeMails(
  examined: readonly ExaminedMail[],
  tools: ConcludingTools,
): Promise<ReadonlyMap<LeasedMail, ProcessingFacts>> {
  const { db, outbox } = tools
  return db.transaction(async (tx) => {
    const decided = await withWaiting(tx, examined)
    const { outcomes, saved } = await storeMessages(tx, decided.filter(isStorable), tools)
    const counted = await countDmarcReports(tx, decided)
    const conclusions = decided.map((one) => ({
      mail: one.mail,
      ...conclude(one, { stored: outcomes.get(one.mail), isCounted: counted.has(one.mail) }, outbox),
    }))
    const finished = examined.map(({ mail }) => mail)
    const unused = conclusions.flatMap(({ mail, kept }) => (kept ? [] : [mail.blob]))
    const events = conclusions.flatMap((conclusion) => conclusion.events)
    const next = conclusions.flatMap((conclusion) => conclusion.next ?? [])
    await Promise.all([
      saved,
      queue.finish(tx, finished),
      rawMails.release(tx, unused),
      next.length > 0 && insertInbound(tx, next),
      outbox.record(tx, events),
    ])
    return new Map(conclusions.map(({ mail, facts }) => [mail, facts]))
  })
}

/**
 * Moves mails to the waiting table as far as there is room. The others, and those of deleted inboxes, are treated as if
 * DNS had failed for the last time.
 */
async function withWaiting(tx: Tx, examined: readonly ExaminedMail[]): Promise<readonly ExaminedMail[]> {
  const candidates = examined.flatMap(({ mail, verdict }): WaitingCandidate<LeasedMail>[] => {
    if (verdict.action !== 'wait') return []
    const { domain, otherwise } = verdict
    return [{ mail, domain, inboxUid: otherwise.inbox.inbox_uid, sender: otherwise.sender }]
  })
  if (candidates.length === 0) return examined
  await waitingMails.lock(tx)
  const deleted = await deletedAmong(
    tx,
    candidates.map(({ inboxUid }) => inboxUid),
  )
  const alive = candidates.filter(({ inboxUid }) => !deleted.has(inboxUid))
  const waiting = await waitingMails.admit(tx, alive, new Date())
  return examined.map((one) =>
    one.verdict.action === 'wait' && !waiting.has(one.mail) ? { ...one, verdict: one.verdict.otherwise } : one,
  )
}

function isStorable(examined: ExaminedMail): examined is ExaminedMail<StorableMail> {
  return examined.verdict.action === 'store'
}

/** What this transaction has done with a mail. */
interface Effect {
  readonly stored: Outcome | undefined
  /** Of a DMARC report: it was not counted before. */
  readonly isCounted: boolean
}

function conclude({ mail, verdict, span }: ExaminedMail, { stored, isCounted }: Effect, outbox: Outbox): Conclusion {
  const discard = (inbox: InboxScope, reason: DiscardReason) =>
    span.within(() => outbox.encode(inboundTopic, [discardedEvent(inbox, mail, reason)]))
  switch (verdict.action) {
    case 'drop':
      return { facts: { outcome: verdict.why }, events: [], kept: false }
    case 'dmarc':
      return { facts: { outcome: isCounted ? 'dmarc_report' : 'dmarc_report_again' }, events: [], kept: false }
    case 'forwarded':
      return { facts: { outcome: 'forwarded' }, events: [], kept: false }
    case 'report':
      return span.within(() => concludeReport(mail, verdict, outbox))
    case 'discard': {
      const { inbox, reason, sender } = verdict
      const facts = { inbox_uid: inbox.inbox_uid, authentication: sender?.authentication.verdict, outcome: reason }
      return { facts, events: discard(inbox, reason), kept: false }
    }
    case 'wait': {
      // The bytes stay in use, by the row in the waiting table.
      const facts = { inbox_uid: verdict.otherwise.inbox.inbox_uid, domain: verdict.domain, outcome: 'waiting' }
      return { facts, events: [], kept: true }
    }
    case 'store': {
      const { inbox, sender, spam, content } = verdict
      if (stored === undefined) throw new Error('a mail was left out of its transaction')
      const { events, ...outcome } = stored
      const examined = { authentication: sender.authentication.verdict, spam_score: spam.score, parsed: content.parsed }
      const facts = { inbox_uid: inbox.inbox_uid, ...examined, ...outcome }
      if (stored.outcome === 'stored') return { facts, events, kept: true }
      return { facts, events: discard(inbox, stored.outcome), kept: false }
    }
  }
}

function concludeReport(
  mail: LeasedMail,
  verdict: Extract<ReportVerdict, { action: 'report' }>,
  outbox: Outbox,
): Conclusion {
  const { report, deliveryIds, authenticated, copyTo } = verdict
  const found = deliveryIds.map((deliveryId) => feedbackEvent(report, { ...mail, deliveryId, authenticated }))
  const reported = outbox.encode(topics['mail.feedback'], found)
  if (copyTo === undefined) return { facts: { outcome: 'reported' }, events: reported, kept: false }
  // From here on the copy is an ordinary mail to the inbox.
  const rows: NewInbound[] = [{ id: randomUUID(), kind: 'mail', recipient: copyTo.address, inbox: copyTo }]
  const accepted = outbox.encode(inboundTopic, acceptedEvents(mail, rows))
  const facts = { inbox_uid: copyTo.inbox_uid, outcome: 'reported_with_copy' }
  return { facts, events: [...reported, ...accepted], kept: true, next: { mail, rows } }
}
