import { LIMITS } from '@restante/contracts/vocabulary'
import { type DomainLookup, type Registration, standingOf } from '@restante/domains'
import {
  type AttachmentInfo,
  type DmarcReader,
  type DmarcReport,
  decodeTransfer,
  normalizeAddress,
  ParserCrashedError,
  ParserTimeoutError,
  ParserUnavailableError,
  type ReadMail,
} from '@restante/mime'
import { UpstreamError } from '@restante/service/errors'
import { isAuthenticated, type SenderVerdict } from '../sender/authenticate-sender.ts'
import type { CountedReport } from './store.ts'

export interface DmarcTools {
  readonly dmarcReader: DmarcReader
  readonly domains: DomainLookup
}

/** What becomes of a mail to `dmarc` at a custom domain. */
export type DmarcVerdict =
  | { readonly action: 'dmarc'; readonly report: CountedReport }
  | {
      readonly action: 'drop'
      readonly why: 'no_dmarc_report' | 'dmarc_report_of_other_domain' | 'dmarc_report_of_other_time'
    }

/** A mail to `dmarc`, read and judged. */
export interface DmarcMail {
  readonly recipient: string
  readonly raw: Buffer
  readonly read: ReadMail
  readonly sender: SenderVerdict
}

/** A report may be of the near future, because clocks differ. */
const AHEAD_MS = 86_400_000
/** No report of honest size is larger; the decoded attachment counts. */
const LARGEST = 10 * 1024 * 1024

/**
 * Examines a mail to `dmarc` at a custom domain: what counts is one report, about the domain that it was sent to, or one
 * below it, and within the time for which counts are kept. Anybody can write there, so the sender is kept, and whether it
 * was authenticated.
 * @throws UpstreamError when no report can be read now.
 */
export async function examineDmarcMail(mail: DmarcMail, tools: DmarcTools): Promise<DmarcVerdict> {
  const { recipient, raw, read, sender } = mail
  const [attachment, ...others] = read.attachments
  const report = attachment && others.length === 0 ? await readReport(raw, attachment, tools.dmarcReader) : undefined
  const reporter = sender.authentication.from_domain
  if (report === undefined || reporter === undefined) return { action: 'drop', why: 'no_dmarc_report' }
  const registration = await holderOf(recipient, tools.domains)
  if (registration === undefined || !isOn(report.domain, registration.domain))
    return { action: 'drop', why: 'dmarc_report_of_other_domain' }
  const age = Date.now() - report.begin
  if (age < -AHEAD_MS || age > LIMITS.dmarc.kept) return { action: 'drop', why: 'dmarc_report_of_other_time' }
  const { id: domainUid, organization_id: organizationId } = registration
  const day = new Date(report.begin).toISOString().slice(0, 10)
  const authenticated = isAuthenticated(sender)
  return {
    action: 'dmarc',
    report: { domainUid, organizationId, reporter, authenticated, id: report.id, day, rows: report.rows },
  }
}

async function readReport(raw: Buffer, part: AttachmentInfo, reader: DmarcReader): Promise<DmarcReport | undefined> {
  if (part.size > LARGEST) return undefined
  const bytes = Buffer.concat([...decodeTransfer(raw.subarray(part.start, part.end), part.encoding)])
  try {
    return await reader.read(bytes)
  } catch (error) {
    // Not tried again: a report that ends its thread would end the next one as well.
    if (error instanceof ParserCrashedError || error instanceof ParserTimeoutError) return undefined
    if (error instanceof ParserUnavailableError) throw new UpstreamError('reports cannot be read now', { cause: error })
    throw error
  }
}

/** The registration of exactly the domain of an address, by the organization that has proven it. */
async function holderOf(recipient: string, domains: DomainLookup): Promise<Registration | undefined> {
  const normal = normalizeAddress(recipient)
  const domain = normal.slice(normal.lastIndexOf('@') + 1)
  const among = (all: readonly Registration[]) =>
    all.find((one) => one.domain === domain && !one.deleted && standingOf(domain, one.organization_id, all).holds)
  return among(await domains.of(domain)) ?? among(await domains.ofOwner(domain))
}

function isOn(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`)
}
