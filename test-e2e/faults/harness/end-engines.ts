/**
 * Ends the engines of one test file: `end-engines.ts <folder of their state>`, where the process that started them exits
 * before its test has ended them.
 */
import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { engineNames } from '@restante/local/engines/engine.ts'
import { native, removeEngineData } from '@restante/local/engines/engines.ts'
import { readSettings, type Settings } from '@restante/local/settings.ts'

/** Ends the engines of a state, whichever run, and deletes their data. */
export async function endEngines(settings: Settings): Promise<void> {
  const engines = await Promise.all(engineNames.map((name) => native[name](settings)))
  await Promise.all(engines.map((engine) => engine.stop()))
  await removeEngineData(settings)
  await rm(settings.state, { recursive: true, force: true })
}

/**
 * Ends them when this process exits, as it does when a run of tests gets SIGTERM: engines are processes in sessions of their
 * own, which nothing else would reach. They take longer to stop than a process that exits can wait, so another one does it.
 * @returns what calls it off.
 */
export function endEnginesAtExit({ state }: Settings): () => void {
  const end = () => {
    spawn(process.execPath, [import.meta.filename, state], { detached: true, stdio: 'ignore' }).unref()
  }
  process.once('exit', end)
  return () => process.off('exit', end)
}

if (import.meta.main) {
  const [state] = process.argv.slice(2)
  // Without a folder it would be the engines of the local stack.
  if (state === undefined) throw new Error('name the folder of their state')
  await endEngines(readSettings({ RESTANTE_STATE: state }))
}
