import type { MessageAuthentication } from '@restante/contracts/resources'
import type { Answer, Question } from '../dns/question.ts'
import type { Conclusion } from './findings.ts'

/** What is sent to the thread about a mail; its body follows in pieces. */
export interface MailToJudge {
  readonly author: string | undefined
  /** The fields used for authentication, with the empty line at their end, in `latin1`. */
  readonly header: string
  /** Whether a field that may occur only once is repeated. */
  readonly repeatsField: boolean
  /** Whether there is a signature to verify. Without one the body is not needed. */
  readonly signed: boolean
  readonly peer: string
  readonly helo: string
  readonly mailFrom: string
  readonly hostname: string
  readonly arcTrustedSealers: readonly string[]
}

/** The result of the thread. */
export interface Judgement extends Conclusion {
  readonly authentication: Omit<MessageAuthentication, 'verdict'>
  /** Domains for which SPF, or a signature that covers the mail, passed: that of the author, or others. */
  readonly passed: readonly string[]
  /** Those for which one of these could not be determined, because DNS failed temporarily. */
  readonly undecided: readonly string[]
  /** Queries on whose temporary failure the verdict depends. */
  readonly unanswered: readonly Question[]
  /** Header lines, each with its line end: Received-SPF and Authentication-Results. */
  readonly trace: string
}

export type ToThread =
  | { readonly kind: 'judge'; readonly id: number; readonly mail: MailToJudge }
  | { readonly kind: 'body'; readonly id: number; readonly piece: Uint8Array; readonly last: boolean }
  | { readonly kind: 'answer'; readonly id: number; readonly question: number; readonly answer: Answer }
  /** All answers that arrived before the request `catch up` have been sent. */
  | { readonly kind: 'caught up'; readonly id: number }
  | { readonly kind: 'forget'; readonly id: number }

export type FromThread =
  /** The modules of the thread are loaded. */
  | { readonly kind: 'ready' }
  /** The last message about this mail was processed, which took `cpuMs` of processor time. */
  | { readonly kind: 'done'; readonly id: number; readonly cpuMs: number; readonly tooLongLine: boolean }
  | { readonly kind: 'ask'; readonly id: number; readonly question: number; readonly asked: Question }
  | { readonly kind: 'catch up'; readonly id: number }
  | { readonly kind: 'judged'; readonly id: number; readonly judgement: Judgement }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }
