/** A DNS query. */
export interface Question {
  readonly name: string
  readonly type: string
}

/**
 * Records, or the code with which the look-up failed.
 * @property until when it expires, in milliseconds since the epoch.
 */
export type Answer = { readonly until: number } & (
  | { readonly records: string[][] | string[] }
  | { readonly code: string }
)

/** Equal for questions that have the same answer. */
export function questionKey({ name, type }: Question): string {
  return `${type} ${name.toLowerCase()}`
}
