import {
  authenticateSender,
  type SenderAuthenticationOptions,
  type SenderVerdict,
} from '../../sender/authenticate-sender.ts'
import { verdictOf } from '../../waiting/waited.ts'
import type { LeasedMail } from '../queue/queue.ts'

export interface AuthenticationTools {
  readonly authentication: SenderAuthenticationOptions
  /** Called when the DNS of an author's domain has answered. */
  readonly answered: (domain: string) => void
}

/** Authenticates the sender of a mail. For a mail that has waited for DNS long enough, the last verdict is final. */
export async function authenticate(
  mail: LeasedMail,
  raw: Buffer,
  { authentication, answered }: AuthenticationTools,
): Promise<SenderVerdict> {
  if (mail.waited?.verdict) return verdictOf(mail.waited.verdict)
  const verdict = await authenticateSender(raw, mail.envelope, authentication)
  const { from_domain: domain } = verdict.authentication
  if (domain !== undefined && verdict.unanswered.length === 0) answered(domain)
  return verdict
}
