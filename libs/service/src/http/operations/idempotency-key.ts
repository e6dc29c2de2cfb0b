import { type FieldError, IDEMPOTENCY_KEY } from '@restante/contracts/vocabulary'

/** The `Idempotency-Key` header of the send family (identity 1.8); `undefined` when it is absent. */
export function checkIdempotencyKey(header: string | string[] | undefined, problems: FieldError[]): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && IDEMPOTENCY_KEY.test(header)) return header
  problems.push({
    path: ['headers', 'idempotency-key'],
    message: 'Must be 1 to 256 characters of A-Z a-z 0-9 - . _ ~',
  })
  return undefined
}
