import type { Database } from '@restante/service/database'
import { queryRows } from '@restante/testkit'

/**
 * Does something while no mail is tried again whose attempt has failed, so that it is not done with meanwhile, however slow
 * the machine is. Afterwards those mails are due, and the time of a slow one in its lane begins.
 */
export async function withoutRetries<T>(db: Database, work: () => Promise<T>): Promise<T> {
  await queryRows(
    db,
    `create function keep_back() returns trigger language plpgsql as $$ begin
       if old.lease_id is not null and new.lease_id is null then new.due_at := 'infinity'; end if;
       return new;
     end $$`,
  )
  await queryRows(db, 'create trigger kept_back before update on inbound for each row execute function keep_back()')
  try {
    return await work()
  } finally {
    await queryRows(db, 'drop function keep_back() cascade')
    const due = 'update inbound set due_at = now(), slow_since = case when slow then now() else slow_since end'
    await queryRows(db, `${due} where due_at = 'infinity'`)
  }
}
