/** A DNS query. */
export interface Question {
  readonly name: string
  readonly type: string
}

/** Records, or the code with which the look-up failed. */
export type Answer = { readonly records: string[][] | string[] } | { readonly code: string }
