import type { Caller } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import { type Database, sql } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { requireInbox, scopeFilter } from '@restante/service/identity'
import { type MessageItemRow, messageItem } from '../mailbox/rows/documents.ts'
import { findCandidates } from '../search/finding/candidates.ts'
import { searchedWords } from '../search/finding/search-query.ts'
import { highlight, Texts } from '../search/results/found.ts'
import { Stems } from '../search/text/stems.ts'
import { byIds, MESSAGE_ITEMS } from './pages/items.ts'
import type { Measured } from './pages/list-query.ts'
import { answerSearch } from './search/ranking.ts'

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
  const texts = new Texts(db)
  const { items, members } = await answerSearch(db, page, {
    result: 'id',
    find: (wanted, likely) =>
      findCandidates(db, searched, wanted, (candidates) => {
        texts.begin(candidates)
        likely(candidates)
      }),
    async match(candidates) {
      const highlighted = await highlight(texts, candidates, words, stems)
      return candidates.flatMap((candidate) => {
        const highlights = highlighted.get(candidate.id)
        return highlights ? [{ candidate, highlights }] : []
      })
    },
    rows: FOUND,
    item: messageItem,
  })
  return { ...members, messages: items }
}
