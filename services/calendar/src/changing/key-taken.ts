/** A concurrent request has used the same `client_id` or `Idempotency-Key`; the transaction must not commit. */
export class KeyTakenError extends Error {
  override readonly name = 'KeyTakenError'
}
