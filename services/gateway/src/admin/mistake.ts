/** Something the operator can put right; the message says how, and a stack trace would only be in the way. */
export class OperatorMistake extends Error {
  override readonly name = 'OperatorMistake'
}
