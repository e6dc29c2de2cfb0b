import { otherUsers, stopEngines } from '../engines/engines.ts'
import { endProcess, recallProcess } from '../processes.ts'
import { say } from '../progress.ts'
import { readSettings, type Settings } from '../settings.ts'
import { endLeftovers } from '../stack.ts'
import { stackFile } from './start.ts'

/** `npm stop`: ends what `npm start` runs, in this terminal or another. Data is kept. */
export async function stop(): Promise<number> {
  await stopStack(readSettings(process.env))
  return 0
}

/** Stops services and engines; engines that others use, such as a test run, keep running. */
export async function stopStack(settings: Settings): Promise<void> {
  const running = await recallProcess(stackFile(settings))
  if (running !== undefined) {
    say('Stopping ...')
    await endProcess(stackFile(settings), { timeout: 90_000 })
  }
  await endLeftovers(settings)
  const users = await otherUsers(settings)
  if (users.length > 0) {
    say(`Services: stopped. The engines stay up for process ${users.join(', ')}.`)
    return
  }
  await stopEngines(settings)
  say('Stopped. Data is kept; `npm run reset` deletes it.')
}
