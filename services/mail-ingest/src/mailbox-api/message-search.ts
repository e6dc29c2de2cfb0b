import type { Caller } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import type { Highlights } from '@restante/contracts/resources'
import { type Database, sql } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { requireInbox, scopeFilter } from '@restante/service/identity'
import { type MessageItemRow, messageItem } from '../mailbox/rows/documents.ts'
import { findCandidates } from '../search/finding/candidates.ts'
import type { Wanted } from '../search/finding/compare.ts'
import { highlight } from '../search/finding/found.ts'
import { searchedWords } from '../search/finding/search-query.ts'
import { Stems } from '../search/text/stems.ts'
import { MESSAGE_ITEM_COLUMNS } from './message-list.ts'
import { takeResults, tokenPosition } from './search/ranking.ts'

const FOUND = sql<MessageItemRow, [ids: readonly string[]]>(
  `select ${MESSAGE_ITEM_COLUMNS} from messages where id = any($1::uuid[])`,
)

interface Found {
  readonly message: MessageItemRow
  readonly highlights: Highlights
}

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
  const found = await takeResults<Found>(page, 'id', find, async (candidates) => {
    const ids = candidates.map(({ id }) => id)
    const [rows, highlighted] = await Promise.all([db.query(FOUND, ids), highlight(db, candidates, words, stems)])
    const messages = new Map(rows.map((row) => [row.id, row]))
    return candidates.flatMap((candidate) => {
      const [message, highlights] = [messages.get(candidate.id), highlighted.get(candidate.id)]
      return message && highlights ? [{ candidate, found: { message, highlights } }] : []
    })
  })
  const { items, members } = page.answer(found, tokenPosition, ({ message, highlights }) => ({
    ...messageItem(message),
    highlights,
  }))
  return { ...members, messages: items }
}
