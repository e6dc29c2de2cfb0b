import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { z } from 'zod'

const TIMEOUT_MS = 600_000

/**
 * A program of this folder in a process of its own, so that its cost is measured separately. It gets one value as input
 * and reports values, which `next` returns in their order.
 */
export class Program {
  readonly #child: ChildProcess
  readonly #reported: unknown[] = []
  #wake: () => void = () => {}

  private constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (value) => {
      this.#reported.push(value)
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

  /** The next value that the program reports. @throws Error when it exits first, or takes longer than ten minutes. */
  async next<T>(schema: z.ZodType<T>): Promise<T> {
    const late = setTimeout(() => this.#child.kill(), TIMEOUT_MS)
    try {
      return schema.parse(await this.#first())
    } finally {
      clearTimeout(late)
    }
  }

  async #first(): Promise<unknown> {
    while (this.#reported.length === 0) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error('the program ended early')
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
    return this.#reported.shift()
  }

  /** Resumes a program that waits for it. */
  resume(): void {
    this.#child.send('resume')
  }

  /** Ends the program and waits until it has exited. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}
