/** Something the operator can put right; the message says how, and a stack trace would only be in the way. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
