import type { Draw } from './draw.ts'

/** What exists and can be named in a path. Of each kind, some are kept and some may be deleted. */
export class KnownThings {
  readonly #kept = new Map<string, string[]>()
  readonly #spare = new Map<string, string[]>()

  /** @param kind the name of a path parameter: `inbox_id`; of one resource or operation only: `drafts.attachment_id`. */
  keep(kind: string, ...ids: readonly string[]): void {
    this.#kept.set(kind, [...(this.#kept.get(kind) ?? []), ...ids])
  }

  spare(kind: string, id: string): void {
    this.#spare.set(kind, [...(this.#spare.get(kind) ?? []), id])
  }

  has(kind: string): boolean {
    return this.#kept.has(kind) || this.#spare.has(kind)
  }

  /** One that probably exists: a deleted one is returned for a short time. */
  any(kind: string, draw: Draw): string {
    const [kept, spare] = [this.#kept.get(kind) ?? [], this.#spare.get(kind)?.slice(-5) ?? []]
    const from = kept.length === 0 || (spare.length > 0 && draw.chance(0.2)) ? spare : kept
    return from.length === 0 ? 'unknown' : draw.one(from)
  }

  /** Removes and returns one that may be deleted; `undefined` if there is none. */
  take(kind: string): string | undefined {
    return this.#spare.get(kind)?.shift()
  }
}
