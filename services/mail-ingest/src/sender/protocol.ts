import type { MessageAuthentication } from '@restante/contracts'
import type { Conclusion } from './findings.ts'

/** A question to DNS. */
export interface Question {
  readonly name: string
  readonly type: string
}

/** Records, or the code with which the look-up failed. */
export type Answer = { readonly records: string[][] | string[] } | { readonly code: string }

/** What the thread is told of a mail; its body follows in pieces. */
export interface MailToJudge {
  readonly author: string | undefined
  /** The fields that are judged, with the empty line at their end, in `latin1`. */
  readonly header: string
  /** A field occurs twice that may occur once. */
  readonly repeatsField: boolean
  /** There is a signature to check: without one the body is not needed. */
  readonly signed: boolean
  readonly peer: string
  readonly helo: string
  readonly mailFrom: string
  readonly hostname: string
  readonly arcTrustedSealers: readonly string[]
}

/** What the thread found out. */
export interface Judgement extends Conclusion {
  readonly authentication: Omit<MessageAuthentication, 'verdict'>
  /** Domains for which SPF, or a signature that covers the mail, passed; whether the author's or not. */
  readonly passed: readonly string[]
  /** Questions whose temporary failure stands between the mail and its verdict. */
  readonly unanswered: readonly Question[]
  /** Header lines, each with its line end: Received-SPF and Authentication-Results. */
  readonly trace: string
}

export type ToThread =
  | { readonly kind: 'judge'; readonly id: number; readonly mail: MailToJudge }
  | { readonly kind: 'body'; readonly id: number; readonly piece: Uint8Array; readonly last: boolean }
  | { readonly kind: 'answer'; readonly id: number; readonly question: number; readonly answer: Answer }
  /** All answers that came before the question `catch up` was asked have been sent. */
  | { readonly kind: 'caught up'; readonly id: number }
  | { readonly kind: 'forget'; readonly id: number }

export type FromThread =
  /** Everything is loaded. */
  | { readonly kind: 'ready' }
  /** The last message about this mail was worked off, for so much processor time. */
  | { readonly kind: 'done'; readonly id: number; readonly cpuMs: number; readonly tooLongLine: boolean }
  | { readonly kind: 'ask'; readonly id: number; readonly question: number; readonly asked: Question }
  | { readonly kind: 'catch up'; readonly id: number }
  | { readonly kind: 'judged'; readonly id: number; readonly judgement: Judgement }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }
