import type { ParseLimits } from '../parse/limits.ts'
import type { SentMail } from './sent-mail.ts'

/** One mail for a parser thread; its bytes are moved, not copied. */
export interface ParserRequest {
  readonly raw: Uint8Array<ArrayBuffer>
  readonly limits: ParseLimits
}

/** What a thread says: first that everything is loaded and mails may come, then what is in each of them. */
export interface ParserAnswer {
  readonly mail?: SentMail
  /** Bytes of its heap, garbage included. */
  readonly heap: number
}
