import type { ParseLimits } from '../limits/limits.ts'
import type { SentMail } from './sent-mail.ts'

/** One mail for a parser thread; its bytes are moved, not copied. */
export interface ParserRequest {
  readonly raw: Uint8Array<ArrayBuffer>
  readonly limits: ParseLimits
}

/** Messages of a thread: first that it is loaded and accepts mails, then the content of each. */
export interface ParserAnswer {
  readonly mail?: SentMail
  /** Bytes of its heap, garbage included. */
  readonly heap: number
  /** Processor time since the start of the thread, in milliseconds. */
  readonly cpuMs: number
}
