import { queryRows } from '@restante/testkit'
import type { Fixture } from './fixture.ts'

/** From now on no check is made, so that a test can say what was found of a domain: timers are not stored. */
export async function withoutChecks(fixture: Fixture): Promise<Fixture> {
  const ignore = "create function ignore_row() returns trigger language plpgsql as 'begin return null; end'"
  await queryRows(fixture.db, ignore)
  await queryRows(
    fixture.db,
    'create trigger ignore_timers before insert on timers for each row execute function ignore_row()',
  )
  return fixture
}
