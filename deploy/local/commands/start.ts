import { once } from 'node:events'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '@restante/service/errors'
import { recallProcess, rememberProcess, startDetached, succeeds, until } from '../processes.ts'
import { Advice, say } from '../progress.ts'
import { startScreen } from '../screen.ts'
import { readSettings, type Settings } from '../settings.ts'
import { Stack } from '../stack.ts'
import { keepToOwner } from '../state.ts'

/** `npm start`: the whole stack in the foreground until Ctrl-C, or with `-- --detach` in the background. */
export async function start(args: readonly string[]): Promise<number> {
  const unknown = args.find((argument) => argument !== '--detach')
  if (unknown !== undefined) throw new Advice(`Unknown argument '${unknown}'. There is: --detach`)
  const settings = readSettings(process.env)
  await keepToOwner(settings)
  const detach = args.includes('--detach')
  const running = await recallProcess(stackFile(settings))
  if (running === undefined) return detach ? startInBackground(settings) : startInForeground(settings)
  const advice = `The stack is running already (process ${running}); \`npm stop\` ends it.`
  if (!detach) throw new Advice(advice)
  const readyz = `http://127.0.0.1:${settings.port('gateway')}/readyz`
  const ready = await until(() => succeeds(fetch(readyz).then(requireOk)), 30_000)
  if (!ready) throw new Advice(`${advice} But ${readyz} does not answer 200.`)
  say(advice)
  return 0
}

/** The file that records the process of a running stack. */
export function stackFile(settings: Settings): string {
  return join(settings.state, 'run', 'stack.pid')
}

async function startInForeground(settings: Settings): Promise<number> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort())
  // In the background mode: the process that waited for the start has given up.
  const givenUp = () => interrupted.abort()
  process.once('disconnect', givenUp)
  const stack = new Stack(settings)
  let ready = false
  try {
    await rememberProcess(stackFile(settings), process.pid)
    await stack.start(interrupted.signal)
    ready = true
    process.stdout.write(await startScreen(settings))
    process.off('disconnect', givenUp)
    process.send?.('ready')
    if (!interrupted.signal.aborted) await once(interrupted.signal, 'abort')
    return 0
  } catch (error) {
    if (!interrupted.signal.aborted) throw error
    return 130
  } finally {
    say(ready ? 'Stopping ...' : 'Stopping what was started ...')
    // Said rather than thrown: it must not hide why the start failed, nor keep this process alive.
    await stack.stop().catch((error: unknown) => say(`Not everything was stopped: ${messageOf(error)}`))
    await rm(stackFile(settings), { force: true })
    say('Stopped')
    if (process.connected) process.disconnect()
  }
}

async function startInBackground(settings: Settings): Promise<number> {
  const log = join(settings.logs, 'stack.log')
  await rm(log, { force: true })
  const child = await startDetached(process.execPath, [join(import.meta.dirname, '../main.ts'), 'start'], {
    log,
    ipc: true,
  })
  const give = () => void child.kill('SIGTERM')
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, give)
  let outcome: number | undefined
  child.once('message', () => {
    outcome = 0
  })
  child.once('exit', (code) => {
    outcome ??= code || 1
  })
  await copyUntil(log, () => outcome !== undefined)
  if (child.connected) child.disconnect()
  return outcome ?? 1
}

/** Copies new lines of the log to this terminal until `done`. */
async function copyUntil(log: string, done: () => boolean): Promise<void> {
  const file = await open(log, 'r')
  try {
    await until(
      async () => {
        const finished = done()
        process.stdout.write(await file.readFile())
        return finished
      },
      Number.POSITIVE_INFINITY,
      200,
    )
  } finally {
    await file.close()
  }
}

function requireOk(response: Response): void {
  if (!response.ok) throw new Error(String(response.status))
}
