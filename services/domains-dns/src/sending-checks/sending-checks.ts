import type { Queryable } from '@restante/service/database'
import type { KeyRing } from '@restante/service/secrets'
import type { AskAll } from '../dns/resolvers.ts'
import type { SendingChecks } from '../records/checks.ts'
import { returnPathOf } from '../records/expected.ts'
import type { Installation } from '../records/installation.ts'
import { checkDkim } from './dkim.ts'
import { checkMailFrom, type MailFromOptions } from './mail-from.ts'
import { mailauthResolver } from './mailauth-resolver.ts'
import { findPair } from './store.ts'

export interface SendingCheckOptions extends MailFromOptions {
  readonly db: Queryable
  readonly ring: KeyRing
  readonly installation: Installation
}

/** Makes the checks of sending of a registration whose records are all valid (domains 7.1). */
export async function checkSending(
  options: SendingCheckOptions,
  { uid, name }: { readonly uid: string; readonly name: string },
  ask: AskAll,
  signal: AbortSignal,
): Promise<SendingChecks> {
  const resolver = mailauthResolver(ask)
  const pair = await findPair(options.db, options.ring, uid)
  const [dkim, mailFrom] = await Promise.all([
    pair === undefined ? ('not_started' as const) : checkDkim(pair, resolver),
    checkMailFrom(returnPathOf(name, options.installation), options, resolver, signal),
  ])
  return { dkim, mail_from: mailFrom }
}
