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
export async function startHoldingPostfix(
  context: BenchContext,
  endpoints: Endpoints,
): Promise<{ readonly host: string; readonly port: number } | undefined> {
  if (!isInstalled('postfix') || process.getuid?.() !== 0) {
    context.say('no comparison: Postfix is not installed, or cannot run without root privileges')
    return undefined
  }
  const [ours, theirs] = await Promise.all([stat(context.folder), stat(tmpdir())])
  if (ours.dev !== theirs.dev)
    context.say(`note: the queue of Postfix in ${tmpdir()} is on another disk than the services`)
  const settings = ['smtpd_client_restrictions = static:HOLD', 'smtpd_client_connection_count_limit = 0']
  return context.cleanUp(await Postfix.start(endpoints, 1, 2, settings))
}
