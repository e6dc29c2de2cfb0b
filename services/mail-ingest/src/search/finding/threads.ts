import type { Queryable } from '@restante/service/database'
import { type Candidate, type RankedPosition, ranked } from './compare.ts'
import { comparison, Parameters, type SearchedScope } from './conditions.ts'

/** Messages of one thread that are tried in place of one that only seemed to match. */
const OTHERS = 20

/** Every message of a thread that may match. A thread is in one inbox, so that all are in the scope of its candidate. */
const MESSAGES = `(select searchable.* from messages join searchable using (id)
    where messages.thread_id = candidate.thread_id) as each`

/** The threads among those of the candidates that were results up to a position, by another of their messages. */
export async function findSeen(
  db: Queryable,
  searched: SearchedScope,
  candidates: readonly Candidate[],
  position: RankedPosition,
): Promise<Set<string>> {
  const parameters = new Parameters()
  const compared = comparison(searched, parameters, position.rankedFrom)
  const threads = parameters.add(candidates.map(({ thread_id }) => thread_id))
  const rows = await parameters.query<{ thread_id: string }>(
    db,
    `select candidate.thread_id from unnest(${threads}::uuid[]) as candidate (thread_id)
 where exists (
   select from (${compared.select(MESSAGES, ['not hidden', compared.matches])}) as message
    where (message.score, message."timestamp", message.thread_id) >= ${ranked(position, parameters)})`,
  )
  return new Set(rows.map(({ thread_id }) => thread_id))
}

/** The other messages of the candidates' threads that match as far as the index tells, the best of each thread first. */
export async function findOthers(
  db: Queryable,
  searched: SearchedScope,
  candidates: readonly Candidate[],
): Promise<Candidate[]> {
  if (candidates.length === 0) return []
  const parameters = new Parameters()
  const compared = comparison(searched, parameters, undefined)
  const ids = parameters.add(candidates.map(({ id }) => id))
  const threads = parameters.add(candidates.map(({ thread_id }) => thread_id))
  const others = compared.select(MESSAGES, ['not hidden', 'id <> candidate.id', compared.matches])
  return parameters.query<Candidate>(
    db,
    `select message.* from unnest(${ids}::uuid[], ${threads}::uuid[]) as candidate (id, thread_id),
       lateral (${others} order by score desc, "timestamp" desc, id desc limit ${OTHERS}) as message`,
  )
}
