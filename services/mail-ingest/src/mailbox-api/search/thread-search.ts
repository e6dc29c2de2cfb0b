import type { Caller } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import { type Database, sql } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import { threadItem } from '../../mailbox/rows/documents.ts'
import type { ThreadRow } from '../../mailbox/rows/rows.ts'
import { findCandidates } from '../../search/finding/candidates.ts'
import type { Candidate } from '../../search/finding/compare.ts'
import { searchedWords } from '../../search/finding/search-query.ts'
import { findOthers, findSeen } from '../../search/finding/threads.ts'
import { highlight, Texts } from '../../search/results/found.ts'
import { Stems } from '../../search/text/stems.ts'
import { byIds, THREAD_ITEMS } from '../pages/items.ts'
import type { Measured } from '../pages/list-query.ts'
import { answerSearch } from './ranking.ts'

const FOUND = sql<Measured<ThreadRow>, [ids: readonly string[]]>(byIds(THREAD_ITEMS))

/** Searches the threads of the scope: one is found if any of its messages is (mail 10, 17). */
export async function searchThreads(
  { db, cursors }: { db: Database; cursors: Cursors },
  caller: Caller,
  query: RequestOf<'threads.search'>['query'],
): Promise<ResponseOf<'threads.search'>> {
  const scope = scopeFilter(caller)
  const page = new KeysetPage(cursors, { operation: 'threads.search', within: scope, query })
  const stems = await Stems.load()
  const words = searchedWords(query.q, stems)
  const { before, after } = query
  // The newest thread is that with the newest activity, as in lists; the bounds of time are about the same. A thread is at
  // least as new as its newest message, so that the upper bound of its time is one of each message.
  const searched = { scope, words, before, threads: { before, after } }
  const texts = new Texts(db)
  const highlights = (candidates: readonly Candidate[]) => highlight(texts, candidates, words, stems)
  const { items, members } = await answerSearch(db, page, {
    result: 'thread_id',
    find: (wanted, likely) =>
      findCandidates(db, searched, wanted, (candidates) => {
        texts.begin(candidates)
        likely(candidates)
      }),
    // The place of a thread is that of its best message, so that a page need not read other threads.
    async match(candidates, position) {
      const [ofBest, seen] = await Promise.all([
        highlights(candidates),
        position && findSeen(db, searched, candidates, position),
      ])
      const unseen = candidates.filter(({ thread_id }) => !seen?.has(thread_id))
      // What only seemed to match must not hide the messages of the same thread that do.
      const others = await findOthers(
        db,
        searched,
        unseen.filter(({ id }) => !ofBest.has(id)),
      )
      const ofOthers = await highlights(others)
      return unseen.flatMap((candidate) => {
        const other = others.find(({ id, thread_id }) => thread_id === candidate.thread_id && ofOthers.has(id))
        const shown = ofBest.get(candidate.id) ?? ofOthers.get(other?.id ?? '')
        return shown ? [{ candidate, highlights: shown }] : []
      })
    },
    rows: FOUND,
    item: threadItem,
  })
  return { ...members, threads: items }
}
