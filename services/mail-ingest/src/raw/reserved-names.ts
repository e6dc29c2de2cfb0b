import { randomUUID } from 'node:crypto'
import type { Database } from '@restante/service/database'
import type { Component } from '@restante/service/process'
import { rawMails } from './store.ts'

/** Names reserved in one statement. A process that dies leaves up to twice as many to the sweeper. */
const RESERVED = 50
/**
 * How long a name may be given out. The sweeper treats reservations as abandoned after 6 hours, and a mail may use its
 * name for an hour.
 */
const FRESH_MS = 4 * 3_600_000

export interface ReservedName {
  /** The blob is named after it (`blobOf`). */
  readonly id: string
  /** Until when it may be given out. */
  readonly until: number
}

/**
 * Names for the bytes of arriving mail, reserved in advance so that a mail need not wait for a commit before its bytes
 * may be written. Each name is given out once.
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
      // A failure is reported to the caller that finds no name left.
      if (this.#free.length < RESERVED / 2) this.#reserve().catch(() => {})
      if (next === undefined) await this.#reserve()
      else if (next.until > Date.now()) return next
    }
  }

  /** Makes a name available to another mail. Nothing was or will be written under it. */
  giveBack(name: ReservedName): void {
    this.#free.push(name)
  }

  /** Deletes unused reservations. */
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
