import type { ParserPool, Report } from '@restante/mime'
import { UpstreamError } from '@restante/service/errors'
import { type ComplaintAddresses, isFromProvider } from '../../inbound/complaint-addresses.ts'
import type { InboxScope } from '../../inbound/store.ts'
import type { ReportCopies } from '../../reports/report-copies.ts'
import type { ReportedDeliveries } from '../../reports/reported-deliveries.ts'
import { authenticateSender, type SenderAuthenticationOptions } from '../../sender/authenticate-sender.ts'
import type { LeasedMail } from '../queue/queue.ts'
import { readReport } from './read-report.ts'

export interface ReportTools {
  readonly parser: ParserPool
  readonly authentication: SenderAuthenticationOptions
  readonly complaintAddresses: ComplaintAddresses
  readonly reported: ReportedDeliveries
  readonly copies: ReportCopies
}

/** What a mail to a return path, or to a registered address of complaints, says about sent mail. */
export type ReportVerdict =
  | {
      readonly action: 'report'
      readonly report: Report
      /** The deliveries that it is about. */
      readonly deliveryIds: readonly string[]
      /** Domains for which SPF or DKIM passed. */
      readonly authenticated: readonly string[]
      /** The inbox that gets the mail as well (domains 11). */
      readonly copyTo: InboxScope | undefined
    }
  /** It is dropped: no report, not from a provider that the address is registered with, or about no mail from here. */
  | { readonly action: 'drop'; readonly why: 'no_report' | 'report_not_authenticated' | 'report_without_delivery' }

/** How long a complaint waits for the DNS of its sender. It is tried again every two seconds. */
const DNS_WAIT_MS = 60_000

/** Examines a mail to the return path of a delivery. */
export async function examineReport(
  mail: LeasedMail,
  deliveryId: string,
  raw: Buffer,
  tools: ReportTools,
): Promise<ReportVerdict> {
  const report = await readReport(mail, raw, tools.parser)
  if (report === undefined) return { action: 'drop', why: 'no_report' }
  const { passed } = await authenticateSender(raw, mail.envelope, tools.authentication)
  return reportVerdict(mail, report, { deliveryIds: [deliveryId], authenticated: passed }, tools)
}

/**
 * Examines a mail to an address that is registered with feedback loops. Everybody can write there, so it is believed
 * only from their providers, and only about a delivery that it can name (events 1.3).
 */
export async function examineComplaint(mail: LeasedMail, raw: Buffer, tools: ReportTools): Promise<ReportVerdict> {
  const report = await readReport(mail, raw, tools.parser)
  if (report?.kind !== 'feedback') return { action: 'drop', why: 'no_report' }
  const sender = await authenticateSender(raw, mail.envelope, tools.authentication)
  if (!isFromProvider(tools.complaintAddresses, mail.recipient, sender.passed)) {
    if (isFromProvider(tools.complaintAddresses, mail.recipient, sender.undecided)) waitForDns(mail)
    return { action: 'drop', why: 'report_not_authenticated' }
  }
  const deliveryIds = await tools.reported.of(report)
  if (deliveryIds.length === 0) return { action: 'drop', why: 'report_without_delivery' }
  return reportVerdict(mail, report, { deliveryIds, authenticated: sender.passed }, tools)
}

/** @throws UpstreamError for a while: DNS has not answered what could authenticate the provider. */
function waitForDns({ receivedAt }: LeasedMail): void {
  if (Date.now() - receivedAt.getTime() < DNS_WAIT_MS)
    throw new UpstreamError('DNS has not answered for the sender of a complaint')
}

async function reportVerdict(
  { envelope, size }: LeasedMail,
  report: Report,
  found: { readonly deliveryIds: readonly string[]; readonly authenticated: readonly string[] },
  { copies }: ReportTools,
): Promise<ReportVerdict> {
  // All deliveries of a report are of one message, which one inbox has sent.
  const [deliveryId] = found.deliveryIds
  const peer = envelope.via === 'smtp' ? envelope.peer : undefined
  const isCopied = deliveryId !== undefined && peer !== undefined
  const copyTo = isCopied ? await copies.inboxFor({ report, deliveryId, peer, size }) : undefined
  return { action: 'report', report, ...found, copyTo }
}
