import type { Caller } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import { type Database, sql } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { requireInbox, scopeFilter } from '@restante/service/identity'
import { type MessageItemRow, messageItem } from '../mailbox/rows/documents.ts'
import { findCandidates } from '../search/finding/candidates.ts'
import type { Wanted } from '../search/finding/compare.ts'
import { highlight } from '../search/finding/found.ts'
import { searchedWords } from '../search/finding/search-query.ts'
import { Stems } from '../search/text/stems.ts'
import { byIds, MESSAGE_ITEMS } from './pages/items.ts'
import type { Measured } from './pages/list-query.ts'
import { answerResults, takeResults } from './search/ranking.ts'

const FOUND = sql<Measured<MessageItemRow>, [ids: readonly string[]]>(byIds(MESSAGE_ITEMS))

/** Searches the messages of an inbox, best match first; those with a restricted label are never found (mail 6.2, 17). */
export async function searchMessages(
  { db, cursors }: { db: Database; cursors: Cursors },
  caller: Caller,
  query: RequestOf<'messages.search'>['query'],
): Promise<ResponseOf<'messages.search'>> {
  const { q, before, after } = query
  const page = new KeysetPage(cursors, { operation: 'messages.search', within: requireInbox(caller).uid, query })
  const stems = await Stems.load()
  const words = searchedWords(q, stems)
  const searched = { scope: scopeFilter(caller), words, before, after }
  const find = (wanted: Wanted) => findCandidates(db, searched, wanted)
  const results = await takeResults(page, 'id', find, async (candidates) => {
    const highlighted = await highlight(db, candidates, words, stems)
    return candidates.flatMap((candidate) => {
      const highlights = highlighted.get(candidate.id)
      return highlights ? [{ candidate, highlights }] : []
    })
  })
  const { items, members } = await answerResults(db, page, results, FOUND, messageItem)
  return { ...members, messages: items }
}
