import { setTimeout as wait } from 'node:timers/promises'
import { type Logger, type Part, type Queryable, sql } from '@restante/service'
import type { Db } from '../database.ts'

const CHANNEL = 'restante_inbound'
const NOTIFY = sql(`select pg_notify('${CHANNEL}', '')`)
/** Most NOTIFYs of one process: each takes a lock that all committing transactions share. */
const INTERVAL_MS = 5
const RECONNECT_MS = 1_000
/** Keeps the listening connection's loss from going unnoticed. */
const CHECK_MS = 15_000

/**
 * Tells pipelines that mail was accepted: the one of this process directly, otherwise those of other processes by
 * NOTIFY. Only a speed-up; pipelines look by themselves.
 */
export class InboundAnnouncer {
  readonly #db: Queryable
  readonly #local = new Set<() => void>()
  #due = false
  #timer: NodeJS.Timeout | undefined

  constructor(db: Queryable) {
    this.#db = db
  }

  attach(ring: () => void): void {
    this.#local.add(ring)
  }

  readonly announce = (): void => {
    if (this.#local.size > 0) {
      for (const ring of this.#local) ring()
      return
    }
    this.#due = true
    if (!this.#timer) this.#send()
  }

  #send(): void {
    this.#timer = undefined
    if (!this.#due) return
    this.#due = false
    this.#timer = setTimeout(() => this.#send(), INTERVAL_MS)
    this.#db.query(NOTIFY).catch(() => {})
  }
}

/** Hears the announcements of other processes. */
export class InboundListener implements Part {
  readonly name = 'inbound listener'
  readonly #db: Db
  readonly #ring: () => void
  readonly #log: Logger
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: { db: Db; ring: () => void; log: Logger }) {
    this.#db = options.db
    this.#ring = options.ring
    this.#log = options.log
  }

  async start(): Promise<void> {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#listen()
      } catch (error) {
        this.#log.warn({ err: error }, 'announcements of accepted mail are not heard; the pipeline polls')
      }
      await wait(RECONNECT_MS, undefined, { signal }).catch(() => {})
    }
  }

  async #listen(): Promise<void> {
    const client = await this.#db.direct()
    const { signal } = this.#stop
    try {
      client.on('notification', this.#ring)
      await client.query(`listen ${CHANNEL}`)
      this.#ring()
      while (!signal.aborted) {
        await wait(CHECK_MS, undefined, { signal }).catch(() => {})
        if (!signal.aborted) await client.query('select 1')
      }
    } finally {
      await client.end().catch(() => {})
    }
  }
}
