import { type Queryable, sql, sqlUnprepared } from '@restante/service/database'
import type { Position } from '@restante/service/http'
import type { ScopeFilter } from '@restante/service/identity'
import type { ShownInbox } from './document.ts'
import { addressesOfSearch, beginningWith, NO_RANGE, type Range, wordsOfSearch } from './search/search-words.ts'

/** How well an inbox matches, the best first. An inbox keeps its address, and so its rank. */
const RANKS = ['exact', 'address', 'words'] as const

export interface FoundInbox extends ShownInbox {
  readonly rank: (typeof RANKS)[number]
  readonly uid: string
}

type FoundRow = Omit<FoundInbox, 'rank'>

type Frame = [
  organizationId: string,
  podId: string | null,
  uid: string | null,
  beforeAt: string | null,
  beforeUid: string | null,
  take: number,
]

const newestOf = (inboxes: string, condition: string) => `
select i.uid, i.pod_id as "podId", i.address, i.display_name as "displayName", i.client_id as "clientId", i.status,
       i.metadata, i.created_at as "createdAt", i.updated_at as "updatedAt"
  from ${inboxes}
 where i.organization_id = $1 and i.deleted_at is null
   and ($2::uuid is null or i.pod_id = $2) and ($3::uuid is null or i.uid = $3)
   and ($4::timestamptz is null or (i.created_at, i.uid) < ($4, $5::uuid))
   and ${condition}
 order by i.created_at desc, i.uid desc
 limit $6`

const inRange = (from: number) => `(i.address collate "C" >= $${from} and i.address collate "C" < $${from + 1})`
const WORDS_BUT = `i.search_words like all($7::text[]) and not ${inRange(8)}`

// Planned for their values: a rare beginning is read from its index, a common one by scanning the newest inboxes.
const BY_ADDRESS = sqlUnprepared<FoundRow, [...Frame, ...wanted: Range, ...but: Range]>(
  newestOf('inboxes i', `${inRange(7)} and not ${inRange(9)}`),
)
const BY_COMMON_WORDS = sqlUnprepared<FoundRow, [...Frame, patterns: string[], ...but: Range]>(
  newestOf('inboxes i', WORDS_BUT),
)
// `offset 0` keeps each inbox a look-up of its own, where the plan might prefer to read all of them.
const BY_RARE_WORD = sqlUnprepared<FoundRow, [...Frame, patterns: string[], ...but: Range, ...rare: Range]>(
  newestOf(
    `(select distinct inbox_uid from inbox_words where organization_id = $1 and word >= $10 and word < $11) found
       cross join lateral (select * from inboxes where uid = found.inbox_uid offset 0) i`,
    WORDS_BUT,
  ),
)

/** Up to this many inboxes are looked up one by one; if more have a word, scanning the newest finds one soon. */
const RARE = 10_000
/** Number of words whose frequency is determined, the longest ones. */
const COUNTED_WORDS = 8

const COUNT = sql<{ count: number }, [organizationId: string, lows: string[], highs: string[], most: number]>(`
select (select count(*)::int
          from (select from inbox_words
                 where organization_id = $1 and word >= wanted.low and word < wanted.high
                 limit $4) holders) as count
  from unnest($2::text[], $3::text[]) with ordinality as wanted(low, high, place)
 order by place`)

/**
 * The best matches of a query after a position (identity 8.7): the exact address or local part, then addresses that
 * begin with the text, then inboxes whose words begin with its words; the newest first in each.
 */
export async function searchInboxes(
  db: Queryable,
  scope: ScopeFilter,
  text: string,
  page: { readonly after: Position | undefined; readonly take: number },
): Promise<FoundInbox[]> {
  const found: FoundInbox[] = []
  const due = RANKS.slice(RANKS.findIndex((rank) => rank === (page.after?.rank ?? 'exact')))
  for (const rank of due) {
    const take = page.take - found.length
    if (take === 0) break
    const after = page.after?.rank === rank ? page.after : undefined
    const rows = await searchRank(db, rank, text, frameOf(scope, after, take))
    found.push(...rows.map((row) => ({ ...row, rank })))
  }
  return found
}

function frameOf({ organizationId, podId, inboxUid }: ScopeFilter, after: Position | undefined, take: number): Frame {
  return [organizationId, podId ?? null, inboxUid ?? null, after?.time.toISOString() ?? null, after?.id ?? null, take]
}

async function searchRank(db: Queryable, rank: FoundInbox['rank'], text: string, frame: Frame): Promise<FoundRow[]> {
  const { exact, beginning } = addressesOfSearch(text)
  if (rank !== 'words' && beginning === NO_RANGE) return []
  switch (rank) {
    case 'exact':
      return db.query(BY_ADDRESS, ...frame, ...exact, ...NO_RANGE)
    case 'address':
      return db.query(BY_ADDRESS, ...frame, ...beginning, ...exact)
    case 'words':
      return searchWords(db, wordsOfSearch(text), beginning, frame)
  }
}

/** @param but addresses that were found before. */
async function searchWords(db: Queryable, words: readonly string[], but: Range, frame: Frame): Promise<FoundRow[]> {
  if (words.length === 0) return []
  const rare = await rarestOf(db, frame[0], words)
  const patterns = words.map((word) => `% ${word}%`)
  if (rare === undefined) return db.query(BY_COMMON_WORDS, ...frame, patterns, ...but)
  return db.query(BY_RARE_WORD, ...frame, patterns, ...but, ...rare)
}

/** The word that the fewest inboxes have; none when each is common. */
async function rarestOf(db: Queryable, organizationId: string, words: readonly string[]): Promise<Range | undefined> {
  const ranges = words.slice(0, COUNTED_WORDS).map(beginningWith)
  const [lows, highs] = [ranges.map(([low]) => low), ranges.map(([, high]) => high)]
  const counts = (await db.query(COUNT, organizationId, lows, highs, RARE + 1)).map(({ count }) => count)
  const least = Math.min(...counts)
  return least > RARE ? undefined : ranges[counts.indexOf(least)]
}
