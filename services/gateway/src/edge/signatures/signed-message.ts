import type { IncomingMessage } from 'node:http'
import type { FieldOccurrence, RequestDescriptor } from 'http-message-sig'

/** Whether a request is meant to be signed: then only its signature can authenticate it (identity 2.4). */
export function isSigned({ headers }: IncomingMessage): boolean {
  return headers['signature-input'] !== undefined || headers.signature !== undefined
}

/**
 * The request as it is signed, at one of the API's URLs.
 * @param base without a trailing slash.
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
 * The headers of some names, the lines of each joined to one value (RFC 9421 2.1): a verifier scans all fields for each
 * component. A header with a line that cannot be covered is left out entirely, because its other lines alone are not
 * the header that is passed on.
 */
export function fieldsOf({ headersDistinct }: IncomingMessage, names: ReadonlySet<string>): FieldOccurrence[] {
  const fields: FieldOccurrence[] = []
  for (const name of names) {
    const lines = headersDistinct[name]
    if (lines?.every((line) => COVERABLE.test(line))) fields.push({ name, value: lines.join(', ') })
  }
  return fields
}
