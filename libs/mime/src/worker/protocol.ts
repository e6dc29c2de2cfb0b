import type { ParseLimits } from '../parse/limits.ts'

/** The first message of a thread: everything is loaded, mails may come. Each later one is a `ReadMail`. */
export const READY = 'ready'

/** One mail for a parser thread; its bytes are moved, not copied. */
export interface ParserRequest {
  readonly raw: Uint8Array
  readonly limits: ParseLimits
}
