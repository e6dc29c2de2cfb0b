import type { Caller } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import type { Highlights } from '@restante/contracts/resources'
import { type Database, sql } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import { threadItem } from '../../mailbox/rows/documents.ts'
import type { ThreadRow } from '../../mailbox/rows/rows.ts'
import { THREAD_COLUMNS } from '../../mailbox/store.ts'
import { findCandidates } from '../../search/finding/candidates.ts'
import type { Candidate, Wanted } from '../../search/finding/compare.ts'
import { highlight } from '../../search/finding/found.ts'
import { searchedWords } from '../../search/finding/search-query.ts'
import { findOthers, findSeen } from '../../search/finding/threads.ts'
import { Stems } from '../../search/text/stems.ts'
import { takeResults, tokenPosition } from './ranking.ts'

// The newest thread is that with the newest activity, as in lists; the bounds of time are about the same.
const FOUND = sql<ThreadRow, [ids: readonly string[], before: string | null, after: string | null]>(`
select ${THREAD_COLUMNS} from threads
 where id = any($1::uuid[]) and not (labels && array['spam', 'blocked', 'unauthenticated', 'trash'])
   and ($2::timestamptz is null or "timestamp" < $2) and ($3::timestamptz is null or "timestamp" > $3)
   and inbox_uid not in (select id from deleted_scopes where kind = 'inbox' and ended_at is null)`)

interface Found {
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
  // A thread is at least as new as its newest message, so that the upper bound of its time is one of each message.
  const searched = { scope, words, before: query.before, threads: { before: query.before, after: query.after } }
  const find = (wanted: Wanted) => findCandidates(db, searched, wanted)
  const highlights = (candidates: readonly Candidate[]) => highlight(db, candidates, words, stems)
  // The place of a thread is that of its best message, so that a page need not read other threads.
  const found = await takeResults<Found>(page, 'thread_id', find, async (candidates, position) => {
    const ids = candidates.map(({ thread_id }) => thread_id)
    const [rows, ofBest, seen] = await Promise.all([
      db.query(FOUND, ids, before, after),
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
    const threads = new Map(rows.map((row) => [row.id, row]))
    return unseen.flatMap((candidate) => {
      const other = others.find(({ id, thread_id }) => thread_id === candidate.thread_id && ofOthers.has(id))
      const [thread, shown] = [
        threads.get(candidate.thread_id),
        ofBest.get(candidate.id) ?? ofOthers.get(other?.id ?? ''),
      ]
      return thread && shown ? [{ candidate, found: { thread, highlights: shown } }] : []
    })
  })
  const { items, members } = page.answer(found, tokenPosition, ({ thread, highlights: shown }) => ({
    ...threadItem(thread),
    highlights: shown,
  }))
  return { ...members, threads: items }
}
