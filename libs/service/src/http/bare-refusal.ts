/**
 * A refusal in the form of the infrastructure: only a `message`, as clients of inline mail bodies expect (interface,
 * errors; identity 1.10). For what no operation gets to see.
 */
export class BareRefusal extends Error {
  override readonly name = 'BareRefusal'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}
