import type { CheckPage, Finding } from '@restante/contracts/internal'
import { sql } from '@restante/service/database'
import type { Db } from '../../storage/database.ts'
import type { GatewaySchedule } from '../../storage/timers.ts'

const PAGE = 1_000
const FIRST = '00000000-0000-0000-0000-000000000000'

const PURGES = sql<{ id: string }, [after: string, rows: number]>(`
select uid as id from inboxes
 where deleted_at is not null and uid > $1
   and not exists (select from timers t where t.kind = 'inbox-purge' and t.key = inboxes.uid::text)
 order by uid
 limit $2`)
const DELETIONS = sql<{ id: string }, [after: string, rows: number]>(`
select id from organizations
 where deleting_at is not null and id > $1
   and not exists (select from timers t where t.kind = 'organization-deletion' and t.key = organizations.id::text)
 order by id
 limit $2`)

/** Finds deletions that have begun and that no timer continues. A repair schedules them. */
export async function* lostDeletions(db: Db, timers: GatewaySchedule, repair: boolean): AsyncGenerator<CheckPage> {
  const state = repair ? 'repaired' : 'open'
  for await (const keys of pagesOf((after) => db.query(PURGES, after, PAGE))) {
    if (repair)
      await db.transaction(async (tx) => {
        for (const key of keys) await timers.scheduleIfMissing(tx, { kind: 'inbox-purge', key, payload: { done: [] } })
      })
    yield pageOf(keys, (id) => ({ subject: `inbox ${id}`, problem: 'nothing awaits its purge', state }))
  }
  for await (const keys of pagesOf((after) => db.query(DELETIONS, after, PAGE))) {
    if (repair)
      await db.transaction(async (tx) => {
        for (const key of keys) await timers.scheduleIfMissing(tx, { kind: 'organization-deletion', key, payload: {} })
      })
    yield pageOf(keys, (id) => ({ subject: `organization ${id}`, problem: 'nothing continues its deletion', state }))
  }
}

async function* pagesOf(
  page: (after: string) => Promise<readonly { readonly id: string }[]>,
): AsyncGenerator<readonly string[]> {
  for (let after = FIRST, last = false; !last; ) {
    const ids = (await page(after)).map(({ id }) => id)
    yield ids
    after = ids.at(-1) ?? after
    last = ids.length < PAGE
  }
}

function pageOf(ids: readonly string[], findingOf: (id: string) => Finding): CheckPage {
  return { examined: ids.length, findings: ids.map(findingOf) }
}
