import { RECORD_REASONS, RECORD_STATUSES } from '@restante/contracts/vocabulary'
import { z } from 'zod'
import { RECORD_KINDS, type RecordKind } from './expected.ts'

/** What the latest check that got an answer found of a record. */
export const recordCheck = z.object({
  status: z.enum(RECORD_STATUSES),
  reason: z.enum(RECORD_REASONS).optional(),
  /** What DNS answered instead of, or beside, the expected value; at most 10. */
  found: z.array(z.string()),
  /** For a person: the likely mistake. */
  hint: z.string().optional(),
  checked_at: z.iso.datetime(),
})
export type RecordCheck = z.infer<typeof recordCheck>

/** Checks by kind. A kind is absent until DNS has answered for it, and counts as missing. */
export const recordChecks = z.partialRecord(z.enum(RECORD_KINDS), recordCheck)
export type RecordChecks = Readonly<Partial<Record<RecordKind, RecordCheck>>>

/** The checks of sending (domains 7.1), in the order in which they are reported. */
export const SENDING_CHECKS = ['dkim', 'mail_from'] as const
export type SendingCheckName = (typeof SENDING_CHECKS)[number]

/** `not_started`: the key cannot be read; `unanswered`: DNS or the host gave no answer. */
export type SendingOutcome = 'passed' | 'not_started' | 'unanswered' | 'failed'
/** The latest outcome of each; absent until it was made with all records valid. */
export type SendingChecks = Readonly<Partial<Record<SendingCheckName, SendingOutcome>>>
