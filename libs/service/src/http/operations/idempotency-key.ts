import { type FieldError, IDEMPOTENCY_KEYS, type IdempotencyKeyRule } from '@restante/contracts/vocabulary'

/** The `Idempotency-Key` header by the rule of an operation (identity 1.8, apps 2); `undefined` when it is absent. */
export function checkIdempotencyKey(
  rule: IdempotencyKeyRule,
  header: string | string[] | undefined,
  problems: FieldError[],
): string | undefined {
  if (header === undefined) return undefined
  const { pattern, form } = IDEMPOTENCY_KEYS[rule]
  if (typeof header === 'string' && pattern.test(header)) return header
  problems.push({ path: ['headers', 'idempotency-key'], message: `Must be ${form}` })
  return undefined
}
