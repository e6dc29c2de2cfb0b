import type { Unreadable } from './read-file.ts'

/** A file is not read. */
export class UnreadableError extends Error {
  readonly reason: Unreadable

  constructor(reason: Unreadable) {
    super(`A calendar file is not read: ${reason}`)
    this.name = 'UnreadableError'
    this.reason = reason
  }
}
