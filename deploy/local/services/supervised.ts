import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { backoff } from '@restante/service/concurrency'
import { endProcess, rememberProcess, until } from '../processes.ts'
import { Advice, say } from '../progress.ts'
import { readableLog } from './log.ts'

export interface Program {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly env: NodeJS.ProcessEnv
  readonly log: string
  readonly pidFile: string
  /** Answers 200 when the program can be used. */
  readonly readyUrl: string
}

/** Waits before a program that ended is started again. */
const RESTART = { firstMs: 500, longestMs: 30_000 }
/** After this long a program counts as settled, so that its next death counts as the first one. */
const SETTLED_MS = 60_000
const READY_WITHIN_MS = 90_000

/**
 * A child process that is restarted when it dies, with growing delays. It runs in a session of its own, so that Ctrl-C
 * reaches only this process, which then stops the children in its own order.
 */
export class Supervised {
  readonly #program: Program
  #deaths = 0
  #lastDeath = ''
  #restart: NodeJS.Timeout | undefined
  #wanted = false
  #spawning: Promise<void> = Promise.resolve()

  constructor(program: Program) {
    this.#program = program
  }

  get name(): string {
    return this.#program.name
  }

  async start(): Promise<void> {
    const { log } = this.#program
    await mkdir(dirname(log), { recursive: true })
    await rename(log, `${log}.1`).catch(() => undefined)
    this.#wanted = true
    this.#spawning = this.#spawn()
    await this.#spawning
  }

  /** Resolves when the program answers; throws an `Advice` with the reason when it dies first or takes too long. */
  async ready(signal: AbortSignal): Promise<void> {
    const began = performance.now()
    const { name, log } = this.#program
    let reason = 'it does not answer'
    const settled = await until(async () => {
      signal.throwIfAborted()
      if (this.#deaths > 0) return true
      reason = await whyNotReady(this.#program.readyUrl)
      return reason === ''
    }, READY_WITHIN_MS)
    if (settled && this.#deaths === 0) {
      say(`${name}: ready after ${((performance.now() - began) / 1000).toFixed(1)} s`)
      return
    }
    const why = this.#deaths > 0 ? this.#lastDeath : `not ready after ${READY_WITHIN_MS / 1000} s: ${reason}`
    throw new Advice(`${name} did not start: ${why}\n\n${log} ends with:\n${await readableLog(log, 15)}`)
  }

  async stop(): Promise<void> {
    this.#wanted = false
    clearTimeout(this.#restart)
    await this.#spawning
    await endProcess(this.#program.pidFile, { signal: 'SIGINT', timeout: 35_000 })
  }

  async #spawn(): Promise<void> {
    const { command, env, log, pidFile } = this.#program
    const [file, ...args] = command
    const output = openSync(log, 'a')
    const born = performance.now()
    const child = spawn(file, args, { env, detached: true, stdio: ['ignore', output, output] })
    closeSync(output)
    child.once('error', (error) => this.#died(String(error), born))
    child.once('exit', (code, signal) => this.#died(signal ? `killed by ${signal}` : `exit code ${code}`, born))
    if (child.pid !== undefined) await rememberProcess(pidFile, child.pid)
  }

  #died(how: string, born: number): void {
    if (!this.#wanted) return
    this.#deaths = performance.now() - born > SETTLED_MS ? 1 : this.#deaths + 1
    this.#lastDeath = how
    const delay = backoff(this.#deaths, RESTART)
    say(`${this.name}: ${how}; restarting in ${delay / 1000} s (log: ${this.#program.log})`)
    this.#restart = setTimeout(() => {
      this.#spawning = this.#spawn()
    }, delay)
  }
}

/** Empty when the program is ready, otherwise its own description of what is missing. */
async function whyNotReady(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) })
    const body = await response.text()
    return response.ok ? '' : `${url} answers ${response.status} ${body.slice(0, 500)}`
  } catch (error) {
    return `${url} does not answer (${error instanceof Error && error.cause instanceof Error ? error.cause.message : error})`
  }
}
