import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Highlights } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { StoredAttachment } from '../../mailbox/rows/rows.ts'
import { unpackedBytes } from '../../mailbox/rows/unpacked-bytes.ts'
import type { Candidate } from '../finding/compare.ts'
import { type FoundText, highlightsOf } from '../finding/highlights.ts'
import type { SearchedWord } from '../finding/search-query.ts'
import { SEARCHED_BODY, SEARCHED_DOCUMENTS, searchedText } from '../indexing/store.ts'
import type { Stems } from '../text/stems.ts'
import { ReadAhead } from './read-ahead.ts'

interface TextRow {
  readonly id: string
  readonly sender: string
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly subject: string | null
  readonly attachments: readonly StoredAttachment[]
  readonly languages: readonly string[]
  readonly body: string | null
  readonly documents: string | null
}

type TextValues = [ids: readonly string[], bodyCharacters: number, documentCharacters: number, mostBytes: number | null]

const TEXTS = sql<TextRow, TextValues>(`
select messages.id, sender, "to", cc, bcc, messages.subject, attachments, languages,
       ${SEARCHED_BODY} as body, ${SEARCHED_DOCUMENTS} as documents
  from messages join searchable using (id) left join message_bodies using (id)
 where id = any($1::uuid[])
   and ($4::int is null or $4 >= coalesce(octet_length(extracted_text), 0)
     + coalesce(octet_length(text), 0) + coalesce(octet_length(search_text), 0) + ${unpackedBytes('messages.recipients', 'attachments')}
     + coalesce((select sum(octet_length(text)) from attachment_texts where message_uid = messages.id), 0))`)

/** Messages with texts, recipients and attachments of up to so many bytes are read at once. */
const SHORT_BYTES = 32_768
/** Others that are in memory at once: each may have `bodyText` and `documentText` characters, and a megabyte of attachments. */
const AT_ONCE = 10
/** Other requests have a turn after so many characters. A turn after each short text would cost more than comparing it. */
const COMPARED_AT_ONCE = 20_000

/** The texts of messages that are compared with a search. */
export class Texts {
  readonly #db: Queryable
  readonly #short: ReadAhead<TextRow>

  constructor(db: Queryable) {
    this.#db = db
    this.#short = new ReadAhead((ids) => this.#read(ids, SHORT_BYTES))
  }

  /** Begins to read the texts of messages that are probably results. */
  begin(candidates: readonly Candidate[]): void {
    this.#short.begin(candidates.map(({ id }) => id))
  }

  /** The texts of these messages, the short ones first; long ones a few at a time. */
  async *of(candidates: readonly Candidate[]): AsyncGenerator<readonly TextRow[]> {
    const ids = candidates.map(({ id }) => id)
    const short = await this.#short.rows(ids)
    yield short
    const shortIds = new Set(short.map(({ id }) => id))
    const withLongTexts = ids.filter((id) => !shortIds.has(id))
    for (let from = 0; from < withLongTexts.length; from += AT_ONCE) {
      yield await this.#read(withLongTexts.slice(from, from + AT_ONCE), null)
    }
  }

  #read(ids: readonly string[], mostBytes: number | null): Promise<TextRow[]> {
    return this.#db.query(TEXTS, ids, LIMITS.search.bodyText, LIMITS.search.documentText, mostBytes)
  }
}

/** The highlights of those candidates that match every word, by the id of their message. */
export async function highlight(
  texts: Texts,
  candidates: readonly Candidate[],
  words: readonly SearchedWord[],
  stems: Stems,
): Promise<Map<string, Highlights>> {
  const found = new Map<string, Highlights>()
  let compared = 0
  for await (const rows of texts.of(candidates)) {
    for (const row of rows) {
      if (compared >= COMPARED_AT_ONCE) {
        await nextTurn()
        compared = 0
      }
      const text = textOf(row)
      compared += text.recipients.reduce((sum, { length }) => sum + length, text.body.length)
      const highlights = highlightsOf(text, words, stems)
      if (highlights) found.set(row.id, highlights)
    }
  }
  return found
}

function textOf(row: TextRow): FoundText {
  const body = `${searchedText(row)}\n${row.documents ?? ''}`
  return { ...row, recipients: [...row.to, ...row.cc, ...row.bcc], body }
}
