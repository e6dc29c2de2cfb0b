import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Endpoints } from '../../stack/endpoints.ts'
import { Postfix } from '../../support/programs/postfix.ts'
import { isInstalled } from '../../support/programs/programs.ts'
import type { BenchContext } from '../harness/bench.ts'

/**
 * Starts a Postfix that queues each mail durably, as it does before every `250`, and then holds it, so that delivery
 * does not compete with the acceptance of the next mail. Returns `undefined`, with a message, where Postfix cannot run.
 */
export function startHoldingPostfix(context: BenchContext, endpoints: Endpoints): Promise<Started> {
  const settings = ['smtpd_client_restrictions = static:HOLD', 'smtpd_client_connection_count_limit = 0']
  return start(context, endpoints, settings)
}

/** Starts a Postfix that takes mail for any domain and hands it to one server, over connections that it keeps. */
export function startRelayingPostfix(context: BenchContext, endpoints: Endpoints, port: number): Promise<Started> {
  const settings = [
    `relayhost = [127.0.0.1]:${port}`,
    'smtp_tls_security_level = none',
    'smtp_connection_cache_on_demand = yes',
    'smtpd_recipient_restrictions = permit_mynetworks, reject',
    'smtpd_client_connection_count_limit = 0',
  ]
  return start(context, endpoints, settings)
}

/** `undefined` where Postfix cannot run. */
type Started = { readonly host: string; readonly port: number } | undefined

async function start(context: BenchContext, endpoints: Endpoints, settings: readonly string[]): Promise<Started> {
  if (!isInstalled('postfix') || process.getuid?.() !== 0) {
    context.say('no comparison: Postfix is not installed, or cannot run without root privileges')
    return undefined
  }
  const [ours, theirs] = await Promise.all([stat(context.folder), stat(tmpdir())])
  if (ours.dev !== theirs.dev)
    context.say(`note: the queue of Postfix in ${tmpdir()} is on another disk than the services`)
  return context.cleanUp(await Postfix.start(endpoints, 1, 2, settings))
}
