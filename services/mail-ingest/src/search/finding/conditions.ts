import { type Queryable, sqlUnprepared } from '@restante/service/database'
import type { ScopeFilter } from '@restante/service/identity'
import { hashOf } from '../text/terms.ts'
import { otherForms, type SearchedWord } from './search-query.ts'

export interface SearchedScope {
  readonly scope: ScopeFilter
  readonly words: readonly SearchedWord[]
  /** Strict bounds of the message's time. */
  readonly before?: Date | undefined
  readonly after?: Date | undefined
  /** Only messages of threads that a search for threads may show, with strict bounds of their time. */
  readonly threads?: { readonly before: Date | undefined; readonly after: Date | undefined }
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
  /** Sender, recipients or subject match a word, in a row that is ranked by them. */
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
  return [...clauses, ...between({ before, after }, parameters)].join(' and ')
}

/** Rows at this place in the order of time and after it, or before it. */
export function placed(order: '>=' | '<', { timestamp, id }: Place, parameters: Parameters): string {
  const [time, tie] = [parameters.add(timestamp.toISOString()), parameters.add(id)]
  return `("timestamp", id) ${order} (${time}::timestamptz, ${tie}::uuid)`
}

/**
 * Compares rows with every word.
 * @param rankedFrom the oldest place from which rows are ranked by sender, recipients and subject; older ones are ranked
 *   like those that match in the body alone. Undefined: there is none
 */
export function comparison(
  { words, threads }: Pick<SearchedScope, 'words' | 'threads'>,
  parameters: Parameters,
  rankedFrom: Place | undefined,
): Comparison {
  const compared = words.map((word) => {
    const text = parameters.add(word.text)
    const inSubject = `strpos(subject, ${text}) > 0`
    const inHeaders = `(${inSubject} or strpos(people, ${text}) > 0)`
    return {
      inHeaders,
      matches: word.inBody === undefined ? inHeaders : `(${inHeaders} or ${isInBody(word, word.inBody, parameters)})`,
      score: `case when ${inSubject} then ${WEIGHT.subject} when ${inHeaders} then ${WEIGHT.people} else ${WEIGHT.body} end`,
    }
  })
  const isRanked = rankedFrom ? placed('>=', rankedFrom, parameters) : 'true'
  const score = `case when ${isRanked} then ${compared.map((word) => word.score).join(' + ')} else ${bodyScore(words)} end`
  const shown = threads ? [isInShownThread(threads, parameters)] : []
  return {
    matches: [...compared.map(({ matches }) => matches), ...shown].join(' and '),
    inHeaders: `(${isRanked} and (${compared.map(({ inHeaders }) => inHeaders).join(' or ')}))`,
    select: (rows, conditions) =>
      `select id, thread_id, "timestamp", ${score} as score from ${rows} where ${conditions.join(' and ')}`,
  }
}

/** The body has each token of the word, in a form that it has in a language of the message. */
function isInBody({ tokens }: SearchedWord, terms: string, parameters: Parameters): string {
  const inALanguage = tokens.flatMap((token) => {
    const forms = [...otherForms(token)].map(
      ([term, languages]) =>
        `${hasTerms(String(term), parameters)} and languages && ${parameters.add(languages)}::text[]`,
    )
    return forms.length === 0 ? [] : [`(${[hasTerms(String(hashOf(token.text)), parameters), ...forms].join(' or ')})`]
  })
  return [hasTerms(terms, parameters), ...inALanguage].join(' and ')
}

/**
 * The thread is one that is found: none of its messages has a restricted label, and its inbox is not being purged. Not a
 * join, so that only the threads of messages that match are read.
 */
function isInShownThread(bounds: NonNullable<SearchedScope['threads']>, parameters: Parameters): string {
  const conditions = [
    `not (labels && array['spam', 'blocked', 'unauthenticated', 'trash'])`,
    `inbox_uid not in (select id from deleted_scopes where kind = 'inbox' and ended_at is null)`,
    ...between(bounds, parameters),
  ]
  return `(select ${conditions.join(' and ')} from threads where threads.id = thread_id)`
}

function between({ before, after }: Pick<SearchedScope, 'before' | 'after'>, parameters: Parameters): string[] {
  return [
    ...(before ? [`"timestamp" < ${parameters.add(before.toISOString())}::timestamptz`] : []),
    ...(after ? [`"timestamp" > ${parameters.add(after.toISOString())}::timestamptz`] : []),
  ]
}

/** Conditions for the index: the bodies may match every word. None: a word is in no body. */
export function lookedUpInBodies(words: readonly SearchedWord[], parameters: Parameters): string[] {
  const terms = words.flatMap(({ mayBeInBody }) => mayBeInBody ?? [])
  return terms.length < words.length ? [] : terms.map((each) => hasTerms(each, parameters))
}

/**
 * Conditions for the index: every word may match anywhere. The index does not know a word of one or two characters without
 * letters and digits, which is only compared. None: it knows no word.
 */
export function lookedUpAnywhere(words: readonly SearchedWord[], parameters: Parameters): string[] {
  return words
    .map(({ mayBeInBody, inHeaders }) => [mayBeInBody ?? [], inHeaders ?? []].flat())
    .flatMap((terms) => (terms.length === 0 ? [] : [anyOf(terms, parameters)]))
}

/** Conditions for the index: every word may match, and one of them in sender, recipients or subject. None: it knows no word. */
export function lookedUpInHeaders(words: readonly SearchedWord[], parameters: Parameters): string[] {
  const headers = words.flatMap((word) => word.inHeaders ?? [])
  if (headers.length < words.length) return lookedUpAnywhere(words, parameters)
  const inHeaders = anyOf(headers, parameters)
  // Two conditions for each word, because the index passes over more of what does not match when it is asked for less.
  return words.length === 1 ? [inHeaders] : [...lookedUpAnywhere(words, parameters), inHeaders]
}

function anyOf(terms: readonly string[], parameters: Parameters): string {
  return `(${terms.map((each) => hasTerms(each, parameters)).join(' or ')})`
}

function hasTerms(terms: string, parameters: Parameters): string {
  return `terms @@ ${parameters.add(terms)}::query_int`
}
