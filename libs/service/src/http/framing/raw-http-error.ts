/**
 * An error in the form of the infrastructure: only a `message`, as clients of inline mail bodies expect (interface,
 * errors; identity 1.10). For requests that are refused before any operation sees them.
 */
export class RawHttpError extends Error {
  override readonly name = 'RawHttpError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
