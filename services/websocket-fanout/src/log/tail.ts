import type { Logger, Part } from '@restante/service'
import type { Db } from '../database.ts'
import { entriesAfter, type LogEntry, lastPosition } from './store.ts'

export const CHANNEL = 'stream_log'

/** A notification is only a speed-up; without one the log is looked at this often. */
const POLL_MS = 250
const BATCH = 500
/** Well below what may wait for a reader: a piece of the log must not look like a reader that is too slow. */
const BATCH_BYTES = 1024 * 1024
/** Without a successful look for so long the instance is not delivering. */
const STALLED_MS = 10_000

type Connection = Awaited<ReturnType<Db['direct']>>

/** Follows the log from the moment of its start and hands each entry on, in order, once. */
export class LogTail implements Part {
  readonly name = 'stream log'
  readonly #db: Db
  readonly #log: Logger
  readonly #deliver: (entry: LogEntry) => void
  #position = '0'
  #lookedAt = 0
  #stopped = false
  #running: Promise<void> = Promise.resolve()
  #listener: Connection | undefined
  #wake: () => void = () => {}
  #failing = false

  constructor(options: { db: Db; log: Logger; deliver: (entry: LogEntry) => void }) {
    this.#db = options.db
    this.#log = options.log
    this.#deliver = options.deliver
  }

  async start(): Promise<void> {
    this.#position = await lastPosition(this.#db)
    this.#lookedAt = Date.now()
    this.#running = this.#follow()
  }

  async ready(): Promise<void> {
    const age = Date.now() - this.#lookedAt
    if (age > STALLED_MS) throw new Error(`the stream log was not read for ${Math.round(age / 1000)} s`)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake()
    await this.#running
    await this.#listener?.end().catch(() => {})
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      const woken = this.#sleep()
      try {
        await this.#listen()
        while (await this.#readBatch()) {
          // More may be waiting.
        }
        this.#failing = false
      } catch (error) {
        if (!this.#failing) this.#log.warn({ err: error }, 'the stream log could not be read; trying again')
        this.#failing = true
      }
      await woken
    }
  }

  /** @returns whether more may be waiting. */
  async #readBatch(): Promise<boolean> {
    const entries = await entriesAfter(this.#db, this.#position, BATCH, BATCH_BYTES)
    this.#lookedAt = Date.now()
    let size = 0
    for (const entry of entries) {
      this.#position = entry.position
      this.#deliver(entry)
      size += entry.payload.length
    }
    // Characters are at most as many as bytes: a batch that was cut at its bytes may look smaller than it was.
    return entries.length === BATCH || size >= BATCH_BYTES / 4
  }

  async #listen(): Promise<void> {
    if (this.#listener) return
    const connection = await this.#db.direct()
    connection.on('notification', () => this.#wake())
    connection.on('end', () => {
      if (this.#listener === connection) this.#listener = undefined
    })
    // Known before the first statement, so that one that fails does not leave the connection behind.
    this.#listener = connection
    await connection.query(`listen ${CHANNEL}`).catch(async (error: unknown) => {
      this.#listener = undefined
      await connection.end().catch(() => {})
      throw error
    })
  }

  /** Resolves at the next notification, or when it is time to look by oneself. */
  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
