import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { serviceCommand } from '@restante/service/process'
import { PATIENCE_MS, waitFor } from '@restante/testkit'
import type { Running } from './fixture.ts'

const MAIN = path.join(import.meta.dirname, '../../src/main.ts')

/** mail-send in a process of its own, which a test may kill. */
export class KillableService {
  #child: ChildProcess | undefined

  /** Resolves when it is ready. @throws Error when it ends instead. */
  async start(environment: Readonly<Record<string, string>>): Promise<Running> {
    const [program, ...args] = serviceCommand(MAIN)
    const log = { LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent' }
    const child = spawn(program, args, { env: { PATH: process.env['PATH'], ...log, ...environment }, stdio: 'inherit' })
    this.#child = child
    const { PORT } = environment
    await waitFor(async () => hasEnded(child) || (await fetch(`http://127.0.0.1:${PORT}/readyz`)).ok, {
      what: 'mail-send to be ready',
      timeout: 2 * PATIENCE_MS,
      interval: 50,
    })
    if (hasEnded(child)) throw new Error(`mail-send ended with exit code ${child.exitCode}`)
    return { stop: () => end(child, 'SIGINT') }
  }

  /** Kills it with SIGKILL. Resolves when it is gone. */
  async kill(): Promise<void> {
    if (this.#child) await end(this.#child, 'SIGKILL')
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function end(child: ChildProcess, signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
  if (hasEnded(child)) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}
