import type { IncomingMessage } from 'node:http'
import type { FieldOccurrence, RequestDescriptor } from 'http-message-sig'

/** Whether a request means to be signed: then nothing but its signature can authenticate it (identity 2.4). */
export function isSigned({ headers }: IncomingMessage): boolean {
  return headers['signature-input'] !== undefined || headers.signature !== undefined
}

/** The request as it is signed, at one of the addresses that the API has. @param base without a slash at its end. */
export function descriptorOf(request: IncomingMessage, base: string): RequestDescriptor {
  return {
    kind: 'request',
    method: request.method ?? '',
    targetUri: `${base}${request.url ?? ''}`,
    fields: fieldsOf(request),
  }
}

/** What a signature can cover is ASCII (RFC 9421 2.1); any other header is nobody's business here. */
const COVERABLE = /^[\t\x20-\x7e]*$/

/** A header of which one line cannot be covered is left out whole: its other lines alone are not what is passed on. */
function fieldsOf({ rawHeaders }: IncomingMessage): FieldOccurrence[] {
  const fields: FieldOccurrence[] = []
  const left = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]]
    if (COVERABLE.test(value)) fields.push({ name, value })
    else left.add(name.toLowerCase())
  }
  return left.size === 0 ? fields : fields.filter(({ name }) => !left.has(name.toLowerCase()))
}
