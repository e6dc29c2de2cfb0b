import { randomUUID } from 'node:crypto'
import type { Part } from '@restante/service'
import type { Db } from '../database.ts'
import { rawMails } from './store.ts'

/** Reserved in one statement; twice as many are left to the sweeper when the process dies. */
const RESERVED = 50
/** The sweeper takes reservations of 6 hours for abandoned, and whoever takes a name may need it for an hour. */
const FRESH_MS = 4 * 3_600_000

interface Reserved {
  readonly id: string
  readonly until: number
}

/**
 * Names for the bytes of arriving mail, reserved ahead so that a mail need not wait for a commit before its bytes may be
 * written. Each is given out once.
 */
export class ReservedNames implements Part {
  readonly name = 'reserved names'
  readonly #db: Db
  #free: Reserved[] = []
  #reserving: Promise<void> | undefined

  constructor(db: Db) {
    this.#db = db
  }

  /** @returns the id that the blob is named after, as `blobOf` tells; its reservation is committed. */
  async take(): Promise<string> {
    for (;;) {
      const next = this.#free.shift()
      // What fails here is told to whoever finds no name left.
      if (this.#free.length < RESERVED / 2) this.#reserve().catch(() => {})
      if (next === undefined) await this.#reserve()
      else if (next.until > Date.now()) return next.id
    }
  }

  /** Gives back what nobody took. */
  async stop(): Promise<void> {
    await this.#reserving?.catch(() => {})
    const unused = this.#free.map(({ id }) => blobOf(id))
    this.#free = []
    await rawMails.forgetReserved(this.#db, unused)
  }

  #reserve(): Promise<void> {
    this.#reserving ??= this.#reserveMore().finally(() => {
      this.#reserving = undefined
    })
    return this.#reserving
  }

  async #reserveMore(): Promise<void> {
    const until = Date.now() + FRESH_MS
    const more = Array.from({ length: RESERVED }, () => ({ id: randomUUID(), until }))
    await rawMails.reserve(
      this.#db,
      more.map(({ id }) => blobOf(id)),
    )
    this.#free.push(...more)
  }
}

/** The name of an arriving mail's bytes. */
export function blobOf(id: string): string {
  return `inbound/${id}`
}
