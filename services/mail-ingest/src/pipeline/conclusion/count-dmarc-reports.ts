import type { Tx } from '@restante/service/database'
import { holdScopes } from '@restante/tenancy'
import { type CountedReport, dmarcCounts } from '../../dmarc/store.ts'
import type { ExaminedMail } from '../examination/examine-mail.ts'
import type { LeasedMail } from '../queue/queue.ts'

/**
 * Counts the DMARC reports among examined mails: each once, and none of a deleted organization. They are in one order in
 * all transactions, so that two of them cannot deadlock.
 * @returns the mails whose report counts now.
 */
export async function countDmarcReports(tx: Tx, examined: readonly ExaminedMail[]): Promise<ReadonlySet<LeasedMail>> {
  const counted = new Set<LeasedMail>()
  const reports = examined.flatMap(({ mail, verdict }) =>
    verdict.action === 'dmarc' ? [{ mail, report: verdict.report, key: keyOf(verdict.report) }] : [],
  )
  for (const { mail, report } of reports.sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const isLive = await holdScopes(tx, [report.organizationId])
    if (isLive && (await dmarcCounts.add(tx, report))) counted.add(mail)
  }
  return counted
}

function keyOf({ domainUid, day, reporter, id }: CountedReport): string {
  return [domainUid, day, reporter, id].join(' ')
}
