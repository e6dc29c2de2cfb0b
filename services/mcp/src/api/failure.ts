/** A request to the API that was refused, with the document of the refusal (identity 1.5). */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body['message'] === 'string' ? body['message'] : `The API answered ${status}`)
    this.status = status
    this.body = body
  }
}
