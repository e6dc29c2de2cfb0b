import type { Caller } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import type { Highlights } from '@restante/contracts/resources'
import { type Database, sql } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import { threadItem } from '../mailbox/documents.ts'
import type { ThreadRow } from '../mailbox/rows.ts'
import { THREAD_COLUMNS } from '../mailbox/store.ts'
import { findCandidates, findSeen } from '../search/finding/candidates.ts'
import type { Candidate, Wanted } from '../search/finding/compare.ts'
import { highlight } from '../search/finding/found.ts'
import { searchedWords } from '../search/finding/search-query.ts'
import { Stems } from '../search/text/stems.ts'
import { rankPosition, takeResults } from './ranking.ts'

// The newest thread is that with the newest activity, as in lists; the bounds of time are about the same.
const FOUND = sql<ThreadRow, [ids: readonly string[], before: string | null, after: string | null]>(`
select ${THREAD_COLUMNS} from threads
 where id = any($1::uuid[]) and not (labels && array['spam', 'blocked', 'unauthenticated', 'trash'])
   and ($2::timestamptz is null or "timestamp" < $2) and ($3::timestamptz is null or "timestamp" > $3)
   and inbox_uid not in (select id from deleted_scopes where kind = 'inbox' and ended_at is null)`)

interface Found {
  /** Its best message. Its time is the thread's place, so that a page need not read other threads. */
  readonly candidate: Candidate
  readonly thread: ThreadRow
  readonly highlights: Highlights
}

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
  const [before, after] = [query.before?.toISOString() ?? null, query.after?.toISOString() ?? null]
  // A thread is at least as new as its newest message, so that a bound on its time is one on the time of each.
  const searched = { scope, words, before: query.before }
  const find = (wanted: Wanted) => findCandidates(db, searched, wanted)
  const found = await takeResults(page, 'thread_id', find, async (candidates, position): Promise<Found[]> => {
    const ids = candidates.map(({ thread_id }) => thread_id)
    const [rows, highlighted, seen] = await Promise.all([
      db.query(FOUND, ids, before, after),
      highlight(db, candidates, words, stems),
      position && findSeen(db, searched, candidates),
    ])
    const threads = new Map(rows.map((row) => [row.id, row]))
    return candidates.flatMap((candidate) => {
      const [thread, highlights] = [threads.get(candidate.thread_id), highlighted.get(candidate.id)]
      return thread && highlights && !seen?.has(thread.id) ? [{ candidate, thread, highlights }] : []
    })
  })
  const { items, members } = page.answer(
    found,
    ({ candidate }) => rankPosition(candidate, 'thread_id'),
    ({ thread, highlights }) => ({ ...threadItem(thread), highlights }),
  )
  return { ...members, threads: items }
}
