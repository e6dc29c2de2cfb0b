/**
 * Runs the system that the end-to-end tests of one run share: `main.ts <folder of the run>`. It exits at a signal, or
 * when jest has exited without one, and deletes what it created on the engines.
 */

import { writeFile } from 'node:fs/promises'
import { messageOf } from '@restante/service/errors'
import { isAlive, runFolder, writeOutcome } from './run.ts'
import { System } from './system.ts'

const [folder = ''] = process.argv.slice(2)
const run = runFolder(folder)
const ended = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  setInterval(() => {
    if (!isAlive(run.owner)) resolve()
  }, 500).unref()
})
await writeFile(run.pidFile, String(process.pid))
try {
  const system = await System.start(folder)
  await writeOutcome(run, { endpoints: system.endpoints })
  const keptAlive = setInterval(() => undefined, 60_000)
  await ended
  clearInterval(keptAlive)
  await system.stop()
} catch (error) {
  await writeOutcome(run, { failure: messageOf(error) })
  process.exitCode = 1
}
