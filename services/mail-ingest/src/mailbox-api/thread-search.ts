import type { Caller } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import type { Highlights } from '@restante/contracts/resources'
import { type Database, sql } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import { threadItem } from '../mailbox/documents.ts'
import type { ThreadRow } from '../mailbox/rows.ts'
import { THREAD_COLUMNS } from '../mailbox/store.ts'
import { type Candidate, findCandidates } from '../search/finding/candidates.ts'
import { highlight } from '../search/finding/found.ts'
import { searchedWords } from '../search/finding/search-query.ts'
import { Stems } from '../search/text/stems.ts'
import { byRank, isAfter, type Ranked, rankPosition, takeInPortions } from './ranking.ts'

// The newest thread is that with the newest activity, as in lists; the bounds of time are about the same.
const FOUND = sql<ThreadRow, [ids: readonly string[], before: string | null, after: string | null]>(`
select ${THREAD_COLUMNS} from threads
 where id = any($1::uuid[]) and not (labels && array['spam', 'blocked', 'unauthenticated', 'trash'])
   and ($2::timestamptz is null or "timestamp" < $2) and ($3::timestamptz is null or "timestamp" > $3)
   and inbox_uid not in (select id from deleted_scopes where kind = 'inbox' and ended_at is null)`)

/** A thread by its best message. Its time is that of the message, so that a page need not read other threads. */
interface RankedThread extends Ranked {
  readonly best: Candidate
}

interface Found {
  readonly ranked: RankedThread
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
  const threads = bestOfThreads(await findCandidates(db, { scope, words }))
  const rest = threads.filter((thread) => isAfter(thread, page.after))
  const [before, after] = [query.before?.toISOString() ?? null, query.after?.toISOString() ?? null]
  const found = await takeInPortions(rest, page.take, async (portion): Promise<Found[]> => {
    const [rows, highlighted] = await Promise.all([
      db.query(
        FOUND,
        portion.map(({ id }) => id),
        before,
        after,
      ),
      highlight(
        db,
        portion.map(({ best }) => best),
        words,
        stems,
      ),
    ])
    const byId = new Map(rows.map((row) => [row.id, row]))
    return portion.flatMap((ranked) => {
      const [thread, highlights] = [byId.get(ranked.id), highlighted.get(ranked.best.id)]
      return thread && highlights ? [{ ranked, thread, highlights }] : []
    })
  })
  const { items, members } = page.answer(
    found,
    ({ ranked }) => rankPosition(ranked),
    ({ thread, highlights }) => ({ ...threadItem(thread), highlights }),
  )
  return { ...members, threads: items }
}

function bestOfThreads(candidates: Candidate[]): RankedThread[] {
  const best = new Map<string, RankedThread>()
  for (const candidate of candidates.sort(byRank)) {
    const { thread_id: id, score, timestamp } = candidate
    if (!best.has(id)) best.set(id, { id, score, timestamp, best: candidate })
  }
  return [...best.values()].sort(byRank)
}
