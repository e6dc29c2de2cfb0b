/** An answer to the peer other than success; smtp-server adds the enhanced status code that goes with the number. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly responseCode: number
  /** For metrics. */
  readonly outcome: string

  constructor(responseCode: number, text: string, outcome = 'refused') {
    super(text)
    this.responseCode = responseCode
    this.outcome = outcome
  }
}
