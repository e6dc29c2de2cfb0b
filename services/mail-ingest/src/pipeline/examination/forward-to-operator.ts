import type { ServiceClient } from '@restante/service/http'
import type { VirusScanner } from '@restante/virus-scan'
import { isInRow } from '../../raw/bytes.ts'
import type { LeasedMail } from '../queue/queue.ts'

export interface ForwardTools {
  /** Undefined: no mail is scanned. */
  readonly viruses: VirusScanner | undefined
  readonly mailSend: ServiceClient<'mail-ingest'>
}

/** What became of a mail to the operator: mail-send has it, or it has a virus. */
export type ForwardVerdict = { readonly action: 'forwarded' } | { readonly action: 'drop'; readonly why: 'virus' }

/** For composing and storing what is at most 10 MB. */
const FORWARD_MS = 30_000

/**
 * Has mail-send forward a mail to the operator. It is neither parsed nor judged: reports of abuse contain what is to be
 * reported. The id of the mail is that of the forwarded one, so an attempt that is repeated after a crash forwards nothing
 * twice. The bytes stay here until mail-send has its own.
 * @throws UpstreamError while mail-send or clamd is down: retry without counting an attempt.
 */
export async function forwardToOperator(
  mail: LeasedMail,
  raw: Buffer,
  { viruses, mailSend }: ForwardTools,
): Promise<ForwardVerdict> {
  if ((await viruses?.scan(mail, raw)) === 'virus') return { action: 'drop', why: 'virus' }
  const { id, recipient, envelope, receivedAt, blob } = mail
  const content = isInRow(blob) ? { bytes: raw.toString('base64') } : { blob }
  const request = {
    id,
    recipient,
    mail_from: envelope.mail_from,
    ...(envelope.via === 'smtp' && { peer: envelope.peer }),
    received_at: receivedAt.toISOString(),
    content,
  }
  await mailSend.call('mail-send.forwardToOperator', request, FORWARD_MS)
  return { action: 'forwarded' }
}
