/** An error that the operator can fix; the message says how, and no stack trace is printed. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
