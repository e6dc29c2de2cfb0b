import type { EventState } from '../../model/rows.ts'

/** Series of which it is remembered; the least recently read one is forgotten first. */
const MOST = 20_000

interface Known {
  /** A change of the series, or of one of its dates, makes another one. */
  readonly version: string
  readonly after: number
  readonly start: number
}

/**
 * When the first date of a series starts that ends after some time, as it was found before. An agenda is read again and
 * again, and of most series no date is on its first page: they need not be expanded to learn it.
 */
export class FirstDates {
  readonly #known = new Map<string, Known>()

  /** A time before which no date starts that ends after `after`, in milliseconds. */
  atLeast({ event }: EventState, after: Date): number {
    const known = this.#known.get(event.id)
    if (known === undefined || known.version !== versionOf(event) || known.after > after.getTime()) {
      return Number.NEGATIVE_INFINITY
    }
    return known.start
  }

  /** @param start of the first date that ends after `after`, in milliseconds. */
  remember({ event }: EventState, after: Date, start: number): void {
    this.#known.delete(event.id)
    this.#known.set(event.id, { version: versionOf(event), after: after.getTime(), start })
    if (this.#known.size <= MOST) return
    const [oldest] = this.#known.keys()
    if (oldest !== undefined) this.#known.delete(oldest)
  }
}

function versionOf({ revision, edits_revision }: EventState['event']): string {
  return `${revision}.${edits_revision}`
}
