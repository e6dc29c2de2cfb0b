/**
 * A refusal in the form of the infrastructure: only a `message`, as clients of inline mail bodies expect (interface,
 * errors; identity 1.10). For what no operation gets to see.
 */
export class RawHttpError extends Error {
  override readonly name = 'RawHttpError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
