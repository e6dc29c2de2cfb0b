import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Place } from '../../stack/place.ts'
import { Postfix } from '../../support/postfix.ts'
import { isInstalled } from '../../support/programs.ts'
import type { BenchContext } from '../harness/bench.ts'

/**
 * A Postfix that queues each mail durably, as before every `250`, and goes no further: nothing that it would do with the
 * mail competes with accepting the next one. `undefined`, with a word about it, where none can run.
 */
export async function startHoldingPostfix(
  context: BenchContext,
  place: Place,
): Promise<{ readonly host: string; readonly port: number } | undefined> {
  if (!isInstalled('postfix') || process.getuid?.() !== 0) {
    context.say('no comparison: Postfix is not installed, or cannot run without the rights of root')
    return undefined
  }
  const [ours, theirs] = await Promise.all([stat(context.folder), stat(tmpdir())])
  if (ours.dev !== theirs.dev) context.say(`note: the queue of Postfix in ${tmpdir()} is on another disk than ours`)
  const settings = ['smtpd_client_restrictions = static:HOLD', 'smtpd_client_connection_count_limit = 0']
  return context.cleanUp(await Postfix.start(place, 1, 2, settings))
}
