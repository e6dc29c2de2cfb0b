import type { z } from 'zod'

/** The message of an issue, which says what is allowed. Undefined: the schema has a message of its own. */
export function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return typeMessage(issue.expected, issue.input)
    case 'too_small':
      return `Must ${verb(issue.origin)} at least ${issue.minimum}${unit(issue.origin, issue.minimum)}`
    case 'too_big':
      return `Must ${verb(issue.origin)} at most ${issue.maximum}${unit(issue.origin, issue.maximum)}`
    case 'invalid_value':
      return issue.input === undefined ? 'Required' : `Must be one of: ${issue.values.join(', ')}`
    default:
      return undefined
  }
}

function typeMessage(expected: string, input: unknown): string {
  if (input === undefined) return 'Required'
  if (input === null) return 'Must not be null'
  const kind = expected === 'record' ? 'object' : expected
  return `Must be ${/^[aio]/.test(kind) ? 'an' : 'a'} ${kind}`
}

function verb(origin: string): string {
  return origin === 'array' ? 'have' : 'be'
}

function unit(origin: string, amount: number | bigint): string {
  const one = BigInt(Math.trunc(Number(amount))) === 1n
  if (origin === 'string') return one ? ' character' : ' characters'
  if (origin === 'array') return one ? ' item' : ' items'
  return ''
}

/** The refusal of a list or map with too many parts. */
export function tooManyMessage(kind: 'list' | 'map', most: number): string {
  return `Must have at most ${most} ${kind === 'list' ? 'items' : 'entries'}`
}

/** Reports a value of the wrong type once: zod would also check the length of any value that has one. */
export function withoutEchoes(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const mistyped = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('\0')))
  if (mistyped.size === 0) return issues
  return issues.filter(({ code, path }) => code === 'invalid_type' || !mistyped.has(path.join('\0')))
}
