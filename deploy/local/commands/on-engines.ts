import { leaveEngines, useEngines } from '../engines/engines.ts'
import { ensurePeers } from '../engines/packages.ts'
import { runNode } from '../node-program.ts'
import { readSettings } from '../settings.ts'

/**
 * Runs Node programs that create databases and topics of their own, one after another even if one fails, with the
 * engines running and named in their environment, and stops using the engines afterwards. Ctrl-C and SIGTERM end the
 * running program. Resolves to the first exit code that is not 0, or 130 when interrupted.
 *
 * @param programs the arguments of Node for each; a generator may decide about the next by what the last one did.
 */
export async function runOnEngines(
  programs: Iterable<readonly string[]> | AsyncIterable<readonly string[]>,
  more: NodeJS.ProcessEnv = {},
): Promise<number> {
  const settings = readSettings(process.env)
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
  try {
    const length = more['RESTANTE_TEST_LENGTH']
    await ensurePeers(length === 'long')
    // Only tests have a length, and leave nothing that anyone needs later.
    const urls = await useEngines(settings, process.env, { expendable: length !== undefined })
    const codes: number[] = []
    for await (const program of programs) {
      if (interrupted.signal.aborted) return 130
      codes.push(await runNode(program, { ...process.env, ...urls, ...more }, interrupted.signal))
    }
    return codes.find((code) => code !== 0) ?? 0
  } finally {
    await leaveEngines(settings)
  }
}
