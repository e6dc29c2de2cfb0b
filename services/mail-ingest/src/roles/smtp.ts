import type { Config, IngestKit } from '../config.ts'
import { Admission } from '../smtp/admission.ts'
import { SmtpEdge } from '../smtp/server.ts'
import type { Parts } from './parts.ts'

/** The role `smtp`: receives mail. */
export function openSmtp(kit: IngestKit, { smtp, hostname, operator }: Config, parts: Parts): void {
  const { log } = kit
  const { recipients, acceptance, writer, rates, storage } = parts
  const admission = new Admission({ rates, storage, log })
  kit.use(
    new SmtpEdge({ ...smtp, hostname, forwardMark: operator.mark, recipients, acceptance, admission, writer, log }),
  )
}
