import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { PATIENCE_MS, waitFor } from '@restante/testkit'
import { endWithThisProcess } from './children.ts'
import { present, type Sources } from './sources.ts'

export interface ServiceProcessOptions {
  readonly name: ServiceName
  readonly environment: Readonly<Record<string, string>>
  readonly log: string
  /** The release that runs. Default: this one. */
  readonly sources?: Sources
  /** Arguments for Node itself. */
  readonly nodeArguments?: readonly string[]
}

/** Pause before a process that died is restarted, in milliseconds. */
const RESTART_MS = 300

/** One service in a process of its own, which a test may kill and restart. */
export class ServiceProcess {
  readonly name: ServiceName
  /** Exits that no test caused. A service that only suffers the faults of others has none. */
  readonly deaths: string[] = []
  readonly #options: ServiceProcessOptions
  #child: ChildProcess | undefined
  #restart: NodeJS.Timeout | undefined
  #killed = false
  #sources: Sources

  constructor(options: ServiceProcessOptions) {
    this.name = options.name
    this.#sources = options.sources ?? present
    this.#options = options
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Its variables. */
  get environment(): Readonly<Record<string, string>> {
    return this.#options.environment
  }

  /** The file of its log. */
  get log(): string {
    return this.#options.log
  }

  /** Whether its release has the service. In place of one that came later nothing runs. */
  get exists(): boolean {
    return this.#sources.services.includes(this.name)
  }

  start(): void {
    if (!this.exists) return
    const { name, environment, log, nodeArguments = [] } = this.#options
    const output = openSync(log, 'a')
    const [program, ...args] = this.#sources.command(`services/${name}/src/main.ts`, nodeArguments)
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment }
    this.#child = endWithThisProcess(spawn(program, args, { env, stdio: ['ignore', output, output] }))
    closeSync(output)
  }

  /** Starts it, and restarts it whenever it dies until it is stopped, as an orchestrator does. */
  supervise(): void {
    this.#killed = false
    this.start()
    const child = this.#child
    child?.once('exit', (code, signal) => {
      if (this.#child !== child) return
      if (!this.#killed) this.deaths.push(signal ?? `exit code ${code}`)
      this.#restart = setTimeout(() => this.supervise(), RESTART_MS)
    })
  }

  /** The release of the next start. */
  runFrom(sources: Sources): void {
    this.#sources = sources
  }

  /** Kills the process with SIGKILL. A supervised process is restarted. */
  kill(): void {
    this.#killed = true
    this.#child?.kill('SIGKILL')
  }

  /** Resolves when the process is ready. @throws Error with the end of its log when it dies instead. */
  async ready(): Promise<void> {
    if (!this.exists) return
    const url = `http://127.0.0.1:${this.#options.environment['PORT']}/readyz`
    await waitFor(
      async () => {
        if (this.#child?.exitCode !== null) return true
        const response = await fetch(url)
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
        return true
      },
      { what: `${this.name} to be ready (${this.#options.log})`, timeout: 4 * PATIENCE_MS, interval: 100 },
    )
    if (this.#child?.exitCode === null) return
    const text = await readFile(this.#options.log, 'utf8')
    throw new Error(`${this.name} did not start:\n${text.split('\n').slice(-20).join('\n')}`)
  }

  /** Stops the process and resolves when it has exited. */
  async stop(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' = 'SIGINT', timeout = PATIENCE_MS): Promise<void> {
    clearTimeout(this.#restart)
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    const ended = () => child.exitCode !== null || child.signalCode !== null
    await waitFor(ended, { what: `${this.name} to end`, timeout }).catch(() => child.kill('SIGKILL'))
    // An exit with an error, or only after SIGKILL, is recorded.
    if (signal !== 'SIGKILL' && child.exitCode !== 0) this.deaths.push(`asked to end: exit code ${child.exitCode}`)
  }
}
