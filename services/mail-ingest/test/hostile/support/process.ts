import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { serviceCommand } from '@restante/service/process'
import { byLength, DnsZone, freePort, underLoad, waitFor } from '@restante/testkit'
import { environmentOf, type Fixture, openFixture } from '../../fixture.ts'
import type { ProbeResult } from './probe.ts'

/** mail-ingest as a process of its own, so that its memory and its answers are its own. */
export class IngestProcess {
  readonly url: string
  readonly smtpPort: number
  readonly #child: ChildProcess
  readonly #output: string[]

  private constructor(url: string, smtpPort: number, child: ChildProcess, output: string[]) {
    this.url = url
    this.smtpPort = smtpPort
    this.#child = child
    this.#output = output
  }

  /** Starts it on the engines of a fixture, with all roles, and resolves when it is ready. */
  static async start(fixture: Fixture, variables: Record<string, string>): Promise<IngestProcess> {
    const [port, smtpPort] = await Promise.all([freePort(), freePort()])
    const env = environmentOf({
      PATH: process.env['PATH'] ?? '',
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'error',
      PORT: String(port),
      SMTP_PORT: String(smtpPort),
      DATABASE_URL: fixture.databaseUrl,
      TOPIC_PREFIX: fixture.topics.prefix,
      BLOB_STORE: `directory:${fixture.blobs}`,
      GATEWAY_URL: fixture.gatewayUrl,
      ...variables,
    })
    const main = path.resolve(import.meta.dirname, '../../../src/main.ts')
    const [program, ...words] = serviceCommand(main)
    const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const output: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
    const service = new IngestProcess(`http://127.0.0.1:${port}`, smtpPort, child, output)
    await waitFor(async () => service.#isReady(), { what: 'mail-ingest to be ready' })
    return service
  }

  /** Asks it things all the time; call what it resolves to, to learn how long the worst answer took. */
  async probe(): Promise<() => Promise<ProbeResult>> {
    const worker = new Worker(new URL('./probe.ts', import.meta.url), {
      workerData: { smtpPort: this.smtpPort, url: this.url },
      execArgv: [],
    })
    await once(worker, 'message')
    return async () => {
      worker.postMessage('over')
      const [result]: ProbeResult[] = await once(worker, 'message')
      if (result === undefined) throw new Error('the probe had nothing to say')
      return result
    }
  }

  /** The most memory that it ever had, in MB. */
  async peakMemory(): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGINT')
    await ended
  }

  async #isReady(): Promise<boolean> {
    if (!this.isRunning) throw new Error(`mail-ingest ended:\n${this.#output.join('')}`)
    return (await fetch(`${this.url}/readyz`)).ok
  }
}

/** At full length what a machine that is not busy keeps to. */
const LONGEST_ANSWER_MS = byLength({ short: 5_000, long: 1_000 })
const MOST_MEMORY_MB = 512

/** A process that receives, and a fixture that reads what it has stored. */
export class Ingest {
  readonly fixture: Fixture
  readonly service: IngestProcess
  readonly #zone: DnsZone

  private constructor(fixture: Fixture, service: IngestProcess, zone: DnsZone) {
    this.fixture = fixture
    this.service = service
    this.#zone = zone
  }

  static async open(): Promise<Ingest> {
    const zone = await new DnsZone().start()
    // The fixture reads; the process under attack does everything else.
    const fixture = await openFixture({ ROLES: 'api' })
    const service = await IngestProcess.start(fixture, { SENDER_AUTH: 'dns', DNS_SERVERS: zone.address })
    return new Ingest(fixture, service, zone)
  }

  async close(): Promise<void> {
    await this.service.stop()
    await this.fixture.stop()
    await this.#zone.stop()
  }

  /** Does something hostile while others ask, and checks that they were answered. */
  async whileOthersAreAnswered<T>(attack: () => Promise<T>): Promise<T> {
    const end = await this.service.probe()
    const result = await attack()
    const { asked, longestPause, ...worst } = await end()
    expect(asked).toBeGreaterThan(0)
    // A machine that stands still for those who ask does so for those who answer.
    for (const ms of Object.values(worst)) expect(ms).toBeLessThan(underLoad(LONGEST_ANSWER_MS) + longestPause)
    expect(await this.service.peakMemory()).toBeLessThan(MOST_MEMORY_MB)
    return result
  }
}
