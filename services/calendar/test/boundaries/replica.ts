import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { BoundaryProcessOptions } from './process.ts'

const WORKER = path.join(import.meta.dirname, 'worker.ts')

/** A process of the operating system that tells of boundaries. */
export class Replica {
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>

  static async start({ databaseUrl, redisUrl, prefix }: BoundaryProcessOptions): Promise<Replica> {
    const child = spawn(process.execPath, [WORKER, databaseUrl, redisUrl, prefix], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const replica = new Replica(child)
    await Promise.race([once(child.stdout, 'data'), replica.#exit.then(() => Promise.reject(new Error('it ended')))])
    return replica
  }

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#exit = once(child, 'exit')
  }

  /** Ends it in the middle of whatever it does. */
  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exit
  }
}
