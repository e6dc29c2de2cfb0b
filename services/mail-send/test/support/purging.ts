import { sql } from '@restante/service/database'
import type { Tenancy } from '@restante/tenancy'
import type { Fixture } from './fixture.ts'

const makeDue = sql<never>("update deleted_scopes set due_at = now() - interval '1 second'")
const waitForOthers = sql<never>('select from deleted_scopes for update')

/**
 * Purges all that is deleted. The service of the fixture purges at the same time, and what it has taken up is passed over
 * here: so its purges are waited for, and an organization, which is finished after its inboxes only, gets a second turn.
 */
export async function purgeAll({ db }: Fixture, tenancy: Tenancy): Promise<void> {
  for (let turn = 0; turn < 2; turn++) {
    await db.query(makeDue)
    await tenancy.purge()
    await db.query(waitForOthers)
  }
}
