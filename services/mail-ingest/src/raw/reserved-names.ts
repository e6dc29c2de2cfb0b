import { randomUUID } from 'node:crypto'
import type { Component, Database } from '@restante/service'
import { rawMails } from './store.ts'

/** Reserved in one statement; twice as many are left to the sweeper when the process dies. */
const RESERVED = 50
/** The sweeper takes reservations of 6 hours for abandoned, and whoever takes a name may need it for an hour. */
const FRESH_MS = 4 * 3_600_000

export interface ReservedName {
  /** What the blob is named after, as `blobOf` tells. */
  readonly id: string
  /** When it is no longer given out. */
  readonly until: number
}

/**
 * Names for the bytes of arriving mail, reserved ahead so that a mail need not wait for a commit before its bytes may be
 * written. Nobody else has one that was given out.
 */
export class ReservedNames implements Component {
  readonly name = 'reserved names'
  readonly #db: Database
  #free: ReservedName[] = []
  #reserving: Promise<void> | undefined

  constructor(db: Database) {
    this.#db = db
  }

  /** @returns a name whose reservation is committed. */
  async take(): Promise<ReservedName> {
    for (;;) {
      const next = this.#free.shift()
      // What fails here is told to whoever finds no name left.
      if (this.#free.length < RESERVED / 2) this.#reserve().catch(() => {})
      if (next === undefined) await this.#reserve()
      else if (next.until > Date.now()) return next
    }
  }

  /** For another mail: nothing was written under this name, nor will be. */
  giveBack(name: ReservedName): void {
    this.#free.push(name)
  }

  /** Forgets what nobody took. */
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
