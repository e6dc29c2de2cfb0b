import type { Draw } from './draw.ts'

/** What exists and can be named in a path; each kind has members that stay and members that may be deleted. */
export class KnownThings {
  readonly #kept = new Map<string, string[]>()
  readonly #spare = new Map<string, string[]>()

  /** @param kind the name of a path parameter: `inbox_id`. */
  keep(kind: string, ...ids: readonly string[]): void {
    this.#kept.set(kind, [...(this.#kept.get(kind) ?? []), ...ids])
  }

  spare(kind: string, id: string): void {
    this.#spare.set(kind, [...(this.#spare.get(kind) ?? []), id])
  }

  /** One that exists, most likely: what is deleted meanwhile is named a little longer. */
  any(kind: string, draw: Draw): string {
    const [kept, spare] = [this.#kept.get(kind) ?? [], this.#spare.get(kind)?.slice(-5) ?? []]
    const from = kept.length === 0 || (spare.length > 0 && draw.chance(0.2)) ? spare : kept
    return from.length === 0 ? 'unknown' : draw.one(from)
  }

  /** One that is not needed any more, taken away; `undefined` when there is none. */
  take(kind: string): string | undefined {
    return this.#spare.get(kind)?.shift()
  }
}
