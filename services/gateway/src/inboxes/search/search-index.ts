import { sql } from '@restante/service/database'
import type { Inbox } from '../../generated/prisma/client.ts'
import type { Tx } from '../../storage/database.ts'
import { wordsOfInbox } from './search-words.ts'

type Words = [organizationId: string, uid: string, words: string[]]

const ADD = sql<never, Words>(`
insert into inbox_words (organization_id, word, inbox_uid) select $1, word, $2 from unnest($3::text[]) as word`)

const REMOVE = sql<never, Words>(
  'delete from inbox_words where organization_id = $1 and inbox_uid = $2 and word = any($3::text[])',
)

/**
 * The words of an inbox in the form of its column: each between blanks, so that ` be` finds words that begin with `be`.
 */
export function searchColumn(address: string, displayName: string | null): string {
  return ` ${wordsOfInbox(address, displayName).join(' ')} `
}

/**
 * Updates the search index of an inbox, in the transaction that changes it.
 * @param before the previous value of the column.
 */
export async function indexInbox(
  tx: Tx,
  { organizationId, uid, searchWords }: Pick<Inbox, 'organizationId' | 'uid' | 'searchWords'>,
  before: string,
): Promise<void> {
  if (searchWords === before) return
  const [old, now] = [wordsIn(before), wordsIn(searchWords)]
  const gone = old.filter((word) => !now.includes(word))
  const added = now.filter((word) => !old.includes(word))
  if (gone.length > 0) await tx.query(REMOVE, organizationId, uid, gone)
  if (added.length > 0) await tx.query(ADD, organizationId, uid, added)
}

function wordsIn(column: string): string[] {
  return column.split(' ').filter((word) => word !== '')
}
