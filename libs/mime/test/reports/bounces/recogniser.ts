import {
  type BounceClass,
  classifyBounce,
  classifyComplaint,
  readMail,
  reportToReturnPath,
} from '../../../src/index.ts'
import type { ExpectedRecipient } from './cases.ts'
import type { Recognised } from './score.ts'

const ENTRY: Record<BounceClass['suppress'], ExpectedRecipient['entry']> = {
  at_once: 'yes',
  at_second: 'second',
  never: 'no',
}

/** What this project reads in a mail to a return path, by the same functions as the services. */
export function ours(raw: Buffer, mailFrom: string): Recognised[] {
  const report = reportToReturnPath(readMail(raw), mailFrom)
  if (report === undefined) return []
  if (report.kind === 'feedback') {
    const complaint = classifyComplaint(report.feedbackType)
    const addresses = report.recipients.length > 0 ? report.recipients : [undefined]
    return complaint === undefined ? [] : addresses.map((address) => ({ address, ...complaint, entry: 'yes' }))
  }
  const failed = report.recipients.filter(({ action }) => action === 'failed')
  return failed.map(({ originalRecipient, recipient, status, diagnostic }) => {
    const bounce = classifyBounce({ status, diagnostic, recipient: originalRecipient ?? recipient, exhausted: true })
    const { type, subType, suppress = 'never' } = bounce ?? {}
    return { address: originalRecipient ?? recipient, type, subType, entry: ENTRY[suppress] }
  })
}
