import { rm } from 'node:fs/promises'
import path from 'node:path'
import { topics } from '@restante/contracts/events'
import type { StoringName } from '@restante/contracts/vocabulary'
import { createDatabases } from '@restante/local/databases.ts'
import { decodeEvent, readEnvelope, recordedSince } from '@restante/messaging'
import { operate } from '@restante/testkit'
import { Redis } from 'ioredis'
import pg from 'pg'
import { Installation } from '../../faults/harness/installation.ts'
import { currentRun } from '../../stack/run.ts'
import { present } from '../../stack/sources.ts'
import { check, type FoundLine } from '../../support/check-command.ts'
import { BackupPage } from './backup-page.ts'
import { Door } from './door.ts'
import { type Doors, Scene } from './scene.ts'

const NAME = 'restore'
/** Time between the oldest backup and the time that the repair is told: minutes, as the page says. */
const SPARE_MS = 120_000
const REPAIRS = 5

/** How much a restored store had on its way when it was backed up. */
export interface OnItsWay {
  /** Mails in the queue of mail-ingest. */
  readonly mails: number
  /** Events in the outbox of mail-ingest. */
  readonly events: number
  /** Deliveries of webhooks-dispatcher. */
  readonly webhooks: number
}

/** What a repair was told, and what it came to. */
export interface Repaired {
  /** Found before anything was repaired. */
  readonly found: readonly FoundLine[]
  /** Left after the last run. */
  readonly left: readonly FoundLine[]
  readonly runs: number
}

/** An installation that is backed up with mail flowing, loses databases, and gets them back as docs/backup.md says. */
export class Rehearsal {
  readonly installation: Installation
  readonly doors: Doors
  /** How long its steps took, in ms. */
  readonly took = new Map<string, number>()
  readonly #folder = `${currentRun().folder}-${NAME}-backups`
  readonly #scenes: Scene[] = []
  #backup: { readonly page: BackupPage; readonly takenAt: Date } | undefined

  private constructor(installation: Installation, doors: Doors) {
    this.installation = installation
    this.doors = doors
  }

  static async start(): Promise<Rehearsal> {
    const installation = await Installation.start({ name: NAME })
    const { smtpPort, gatewayUrl } = installation.system.endpoints
    const [smtp, api] = await Promise.all([Door.to(smtpPort), Door.to(Number(new URL(gatewayUrl).port))])
    return new Rehearsal(installation, { smtp, api })
  }

  async openScene(): Promise<Scene> {
    const scene = await Scene.open(this.installation, this.doors)
    this.#scenes.push(scene)
    return scene
  }

  /** Takes the set of dumps, and the copy of the object store. */
  async backUp(name: string): Promise<void> {
    const page = await BackupPage.of(this.installation.system, path.join(this.#folder, name))
    this.#backup = { page, takenAt: await this.#timed('backup', () => page.back()) }
  }

  /** Stops all services while mail is being sent to them, and keeps traffic out from then on. */
  async stopServices(): Promise<void> {
    await Promise.all(this.installation.system.processes().map((each) => each.stop('SIGTERM', 35_000)))
    this.doors.smtp.close()
    this.doors.api.close()
  }

  /** Puts these databases and the object store back, empties Redis, and starts all services. Mail is kept back. */
  async restore(services: readonly StoringName[]): Promise<OnItsWay> {
    const { page } = this.#present()
    await this.#timed('restore', () => page.restore(services))
    if (services.includes('mail-send')) await page.hold()
    if (services.includes('mail-ingest')) await page.forgetReservations()
    const redis = new Redis(this.installation.engines.resources.urls.REDIS_URL)
    await redis.flushall()
    redis.disconnect()
    const [mails, events, webhooks] = await Promise.all([
      this.count('mail-ingest', 'inbound'),
      this.count('mail-ingest', 'outbox where published_at is null'),
      this.count('webhooks-dispatcher', 'deliveries'),
    ])
    const processes = this.installation.system.processes()
    for (const each of processes) each.supervise()
    await Promise.all(processes.map((each) => each.ready()))
    return { mails, events, webhooks }
  }

  /** Makes the database of websocket-fanout an empty one, while no service runs. */
  async emptyStreamLog(): Promise<void> {
    const { urls, databases } = this.installation.engines.resources
    const client = new pg.Client({ connectionString: urls.DATABASE_URL })
    await client.connect()
    const name = new URL(databases['websocket-fanout']).pathname.slice(1)
    await client.query(`drop database ${client.escapeIdentifier(name)}`)
    await client.end()
    await createDatabases(urls.DATABASE_URL, ['websocket-fanout'])
    await present.migrate('websocket-fanout', databases['websocket-fanout'])
  }

  /** Compares, then repairs until nothing is left except what is accepted. */
  async repair(
    services: readonly StoringName[],
    accepts: (left: FoundLine) => boolean = () => false,
  ): Promise<Repaired> {
    const since = new Date(this.#present().takenAt.getTime() - SPARE_MS).toISOString()
    const words = ['--restored', ...services, '--since', since]
    const { endpoints } = this.installation.system
    const { found } = await this.#timed('comparison', () => check(endpoints, ...words))
    for (let runs = 1; ; runs++) {
      const repaired = await this.#timed('repair', () => check(endpoints, ...words, '--repair'))
      const left = repaired.found.filter(({ state }) => state !== 'repaired')
      if (left.every(accepts)) return { found, left, runs }
      if (runs === REPAIRS) throw new Error(`${REPAIRS} repairs have left:\n${JSON.stringify(left, null, 1)}`)
    }
  }

  /** Releases the mail that was kept back, if any, and lets traffic in. */
  async reopen(services: readonly StoringName[]): Promise<void> {
    const { operator } = this.installation.system.endpoints
    if (services.includes('mail-send')) await operate(operator, 'queue', 'release', '--everything')
    this.doors.smtp.open()
    this.doors.api.open()
  }

  /** Message-IDs of what was published as delivered. */
  async publishedAsDelivered(): Promise<ReadonlySet<string>> {
    const topic = topics['mail.deliveries']
    const kafka = this.installation.kafka()
    const ids = new Set<string>()
    for (let after: string | undefined, last = false; !last; last = after === undefined) {
      const page = await recordedSince(kafka, [topic], { since: new Date(0), after })
      for (const record of page.records) {
        const event = decodeEvent(topic, readEnvelope(record))
        if (event.type === 'delivery.delivered') ids.add(event.payload.message_id)
      }
      after = page.next
    }
    return ids
  }

  /** The number of rows of a table in the database of a service: `messages where inbox_uid = $1`. */
  async count(service: StoringName, rows: string, ...values: readonly string[]): Promise<number> {
    return Number(await this.read(service, `select count(*) as value from ${rows}`, ...values))
  }

  /** What a statement selects as `value` from the database of a service, as text. */
  async read(service: StoringName, text: string, ...values: readonly string[]): Promise<string> {
    const client = new pg.Client({ connectionString: this.installation.system.endpoints.databases[service] })
    await client.connect()
    try {
      const { rows } = await client.query<{ value: unknown }>(text, [...values])
      return String(rows[0]?.value ?? '')
    } finally {
      await client.end()
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.doors.smtp.stop(), this.doors.api.stop()])
    await this.installation.stop()
    for (const scene of this.#scenes) await scene.close()
    await rm(this.#folder, { recursive: true, force: true })
  }

  #present() {
    if (this.#backup === undefined) throw new Error('nothing was backed up')
    return this.#backup
  }

  async #timed<T>(step: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const value = await work()
    this.took.set(step, Math.round(performance.now() - began))
    return value
  }
}
