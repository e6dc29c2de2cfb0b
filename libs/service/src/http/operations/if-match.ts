import type { FieldError } from '@restante/contracts/vocabulary'

/** The entity tags that a change is bound to, with their quotes; `*`: it is made while the resource exists. */
export type IfMatch = '*' | readonly string[]

const LIST = /^\s*(?:W\/)?"[!#-~\u0080-\u00ff]*"(?:\s*,\s*(?:W\/)?"[!#-~\u0080-\u00ff]*")*\s*$/
const TAG = /"[!#-~\u0080-\u00ff]*"/g

/** The `If-Match` header (RFC 9110 13.1.1). A weak tag is compared like a strong one (calendar 13.1). */
export function checkIfMatch(header: string | undefined, problems: FieldError[]): IfMatch | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  if (LIST.test(header)) return header.match(TAG) ?? []
  problems.push({ path: ['headers', 'if-match'], message: 'Must be an ETag with its quotes, such as "rv-1", or *' })
  return undefined
}
