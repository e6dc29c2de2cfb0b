import type { IncomingMessage } from 'node:http'
import type { FieldOccurrence, RequestDescriptor } from 'http-message-sig'

/** Whether a request means to be signed: then nothing but its signature can authenticate it (identity 2.4). */
export function isSigned({ headers }: IncomingMessage): boolean {
  return headers['signature-input'] !== undefined || headers.signature !== undefined
}

/**
 * The request as it is signed, at one of the addresses that the API has.
 * @param base without a slash at its end.
 */
export function descriptorOf(
  request: IncomingMessage,
  fields: readonly FieldOccurrence[],
  base: string,
): RequestDescriptor {
  return { kind: 'request', method: request.method ?? '', targetUri: `${base}${request.url ?? ''}`, fields }
}

/** What a signature can cover is ASCII (RFC 9421 2.1). */
const COVERABLE = /^[\t\x20-\x7e]*$/

/**
 * The headers of some names, the lines of each as one value (RFC 9421 2.1): a verifier goes through all fields for each
 * component. A header of which one line cannot be covered is left out whole: its other lines alone are not what is passed on.
 */
export function fieldsOf({ headersDistinct }: IncomingMessage, names: ReadonlySet<string>): FieldOccurrence[] {
  const fields: FieldOccurrence[] = []
  for (const name of names) {
    const lines = headersDistinct[name]
    if (lines?.every((line) => COVERABLE.test(line))) fields.push({ name, value: lines.join(', ') })
  }
  return fields
}
