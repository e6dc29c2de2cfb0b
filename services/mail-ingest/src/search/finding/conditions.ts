import { type Queryable, sqlUnprepared } from '@restante/service/database'
import type { ScopeFilter } from '@restante/service/identity'
import type { SearchedWord } from './search-query.ts'

export interface SearchedScope {
  readonly scope: ScopeFilter
  readonly words: readonly SearchedWord[]
  /** Strict bounds of the message's time. */
  readonly before?: Date | undefined
  readonly after?: Date | undefined
}

/** A place in the order of time, ties by id. */
export interface Place {
  readonly timestamp: Date
  readonly id: string
}

/** How the words of a search are compared with a row of `searchable`, as conditions and values of a statement. */
export interface Comparison {
  /** The row matches every word. */
  readonly matches: string
  /** Sender, recipients or subject match a word. */
  readonly inHeaders: string
  /** The rows under these conditions, each with the sum of the weights of what it matches. */
  select(rows: string, conditions: readonly string[]): string
}

const WEIGHT = { subject: 4, people: 2, body: 1 }

/** A match in sender, recipients or subject has a higher score than as many words in the body alone. */
export function bodyScore(words: readonly SearchedWord[]): number {
  return words.length * WEIGHT.body
}

/** The values of a statement that is composed for one request. */
export class Parameters {
  readonly #values: unknown[] = []

  add(value: unknown): string {
    this.#values.push(value)
    return `$${this.#values.length}`
  }

  query<Row>(db: Queryable, text: string): Promise<Row[]> {
    return db.query(sqlUnprepared<Row, unknown[]>(text), ...this.#values)
  }
}

export function inScope({ scope, before, after }: SearchedScope, parameters: Parameters): string {
  const { organizationId, podId, inboxUid } = scope
  const clauses = ['not hidden']
  if (inboxUid !== undefined) clauses.push(`inbox_uid = ${parameters.add(inboxUid)}::uuid`)
  else if (podId !== undefined) clauses.push(`pod_id = ${parameters.add(podId)}::uuid`)
  else clauses.push(`organization_id = ${parameters.add(organizationId)}::uuid`)
  if (before) clauses.push(`"timestamp" < ${parameters.add(before.toISOString())}::timestamptz`)
  if (after) clauses.push(`"timestamp" > ${parameters.add(after.toISOString())}::timestamptz`)
  return clauses.join(' and ')
}

export function olderThan({ timestamp, id }: Place, parameters: Parameters): string {
  return `("timestamp", id) < (${parameters.add(timestamp.toISOString())}::timestamptz, ${parameters.add(id)}::uuid)`
}

export function comparison(words: readonly SearchedWord[], parameters: Parameters): Comparison {
  const compared = words.map(({ text, inBody }) => {
    const word = parameters.add(text)
    const inSubject = `strpos(subject, ${word}) > 0`
    const inHeaders = `(${inSubject} or strpos(people, ${word}) > 0)`
    return {
      inHeaders,
      matches: inBody === undefined ? inHeaders : `(${inHeaders} or ${hasTerms(inBody, parameters)})`,
      score: `case when ${inSubject} then ${WEIGHT.subject} when ${inHeaders} then ${WEIGHT.people} else ${WEIGHT.body} end`,
    }
  })
  const score = compared.map((word) => word.score).join(' + ')
  return {
    matches: compared.map(({ matches }) => matches).join(' and '),
    inHeaders: `(${compared.map(({ inHeaders }) => inHeaders).join(' or ')})`,
    select: (rows, conditions) =>
      `select id, thread_id, "timestamp", ${score} as score from ${rows} where ${conditions.join(' and ')}`,
  }
}

/** Conditions for the index: the bodies match every word. None: a word is in no body. */
export function lookedUpInBodies(words: readonly SearchedWord[], parameters: Parameters): string[] {
  const terms = words.flatMap(({ inBody }) => inBody ?? [])
  return terms.length < words.length ? [] : terms.map((each) => hasTerms(each, parameters))
}

/**
 * Conditions for the index: every word may match, and one of them in sender, recipients or subject. None: the index does
 * not know a word.
 */
export function lookedUpInHeaders(words: readonly SearchedWord[], parameters: Parameters): string[] {
  const headers = words.flatMap((word) => word.inHeaders ?? [])
  if (headers.length < words.length) return []
  const inHeaders = anyOf(headers, parameters)
  if (words.length === 1) return [inHeaders]
  // Two conditions for each word, because the index passes over more of what does not match when it is asked for less.
  const anywhere = words.map((word) => anyOf([word.inBody ?? [], word.inHeaders ?? []].flat(), parameters))
  return [...anywhere, inHeaders]
}

function anyOf(terms: readonly string[], parameters: Parameters): string {
  return `(${terms.map((each) => hasTerms(each, parameters)).join(' or ')})`
}

function hasTerms(terms: string, parameters: Parameters): string {
  return `terms @@ ${parameters.add(terms)}::query_int`
}
