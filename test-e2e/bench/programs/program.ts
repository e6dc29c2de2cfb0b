import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { z } from 'zod'

const PATIENCE_MS = 600_000

/**
 * A program of this folder as a process of its own, so that what it costs is not measured with what it is compared to.
 * It gets one value to begin with, and tells values back in the order in which they are asked for.
 */
export class Program {
  readonly #child: ChildProcess
  readonly #told: unknown[] = []
  #wake: () => void = () => {}

  private constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (value) => {
      this.#told.push(value)
      this.#wake()
    })
    child.on('exit', () => this.#wake())
  }

  static start(name: string, input: object, nodeArguments: readonly string[] = []): Program {
    const file = path.join(import.meta.dirname, `${name}.ts`)
    return new Program(fork(file, [JSON.stringify(input)], { execArgv: [...nodeArguments] }))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** The next value that it tells. @throws Error when it ends first, or takes longer than ten minutes. */
  async next<T>(schema: z.ZodType<T>): Promise<T> {
    const late = setTimeout(() => this.#child.kill(), PATIENCE_MS)
    try {
      return schema.parse(await this.#first())
    } finally {
      clearTimeout(late)
    }
  }

  async #first(): Promise<unknown> {
    while (this.#told.length === 0) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error('the program ended early')
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
    return this.#told.shift()
  }

  /** Lets it go on, where it waits for that. */
  goOn(): void {
    this.#child.send('go on')
  }

  /** Asks it to end and waits until it has. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}
