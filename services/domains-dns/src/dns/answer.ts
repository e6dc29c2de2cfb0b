import type { MxRecord, SoaRecord } from 'node:dns'

/** The record types that are queried, and how a record of each is represented. */
export interface RecordsByType {
  readonly MX: MxRecord
  /** One record: pieces of a text, with nothing between them (RFC 1035 3.3.14, RFC 7208 3.3). */
  readonly TXT: string[]
  readonly CNAME: string
  readonly A: string
  readonly AAAA: string
  readonly NS: string
  readonly SOA: SoaRecord
}
export type QueryType = keyof RecordsByType

/** A name to query. */
export interface Question<T extends QueryType = QueryType> {
  readonly name: string
  readonly type: T
}

/** What one DNS server answered. */
export type Answer<T extends QueryType> =
  | { readonly kind: 'records'; readonly records: readonly RecordsByType[T][] }
  /** The name does not exist, or has no record of this type. */
  | { readonly kind: 'absent'; readonly code: string }
  /** Nothing is known: the server failed, refused or did not answer in time. */
  | { readonly kind: 'failed'; readonly code: string }

/** A question without an answer, or without records; `code` is that of `node:dns`. */
export class LookupError extends Error {
  override readonly name = 'LookupError'
  readonly code: string

  constructor({ name, type }: Question, code: string) {
    super(`${type} ${name}: ${code}`)
    this.code = code
  }
}

/** The answer is definite: no such name, no such record, or a name that cannot exist. */
const ABSENT = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

/** Whether a code of `node:dns` says that there is no record, and not that nothing is known. */
export function isAbsent(code: string): boolean {
  return ABSENT.has(code)
}

/** The answer of several servers that knows most: records before absence before a failure. */
export function bestOf<T extends QueryType>(answers: readonly Answer<T>[]): Answer<T> {
  const of = (kind: Answer<T>['kind']) => answers.find((answer) => answer.kind === kind)
  return of('records') ?? of('absent') ?? of('failed') ?? { kind: 'failed', code: 'ETIMEOUT' }
}
