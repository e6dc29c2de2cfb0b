/**
 * A refusal in the form of the infrastructure: only a `message`, as clients of inline mail bodies expect (interface,
 * errors; identity 1.10). For what no operation gets to see.
 */
export class BareRefusal extends Error {
  override readonly name = 'BareRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
