import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Highlights } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { StoredAttachment } from '../../mailbox/rows.ts'
import { SEARCHED_BODY, SEARCHED_DOCUMENTS, searchedText } from '../indexing/store.ts'
import type { Stems } from '../text/stems.ts'
import type { Candidate } from './compare.ts'
import { type FoundText, highlightsOf } from './highlights.ts'
import type { SearchedWord } from './search-query.ts'

interface TextRow {
  readonly id: string
  readonly sender: string
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly subject: string | null
  readonly attachments: readonly StoredAttachment[]
  readonly body: string | null
  readonly documents: string | null
  readonly languages: readonly string[]
}

const TEXTS = sql<TextRow, [ids: readonly string[], bodyCharacters: number, documentCharacters: number]>(`
select messages.id, sender, "to", cc, bcc, messages.subject, attachments, languages, ${SEARCHED_BODY} as body,
       ${SEARCHED_DOCUMENTS} as documents
  from messages join searchable using (id) left join message_bodies using (id)
 where id = any($1::uuid[])`)

/** Messages whose texts are in memory at once: each may have `bodyText` and `documentText` characters. */
const AT_ONCE = 10

/** The highlights of those candidates that match every word, by the id of their message. */
export async function highlight(
  db: Queryable,
  candidates: readonly Candidate[],
  words: readonly SearchedWord[],
  stems: Stems,
): Promise<Map<string, Highlights>> {
  const ids = candidates.map(({ id }) => id)
  const found = new Map<string, Highlights>()
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const portion = ids.slice(from, from + AT_ONCE)
    for (const row of await db.query(TEXTS, portion, LIMITS.search.bodyText, LIMITS.search.documentText)) {
      // Each may be long; other requests go on between them.
      await nextTurn()
      const highlights = highlightsOf(textOf(row), words, stems)
      if (highlights) found.set(row.id, highlights)
    }
  }
  return found
}

function textOf(row: TextRow): FoundText {
  const body = `${searchedText(row)}\n${row.documents ?? ''}`
  return { ...row, recipients: [...row.to, ...row.cc, ...row.bcc], body }
}
