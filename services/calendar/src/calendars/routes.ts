import type { Database, Tx } from '@restante/service/database'
import { ApiError, invalid } from '@restante/service/errors'
import type { Handlers, IfMatch } from '@restante/service/http'
import { isZoneName } from '../dates/index.ts'
import { calendarDocument, etagOfCalendar, requireMatch, type ShownCalendar } from '../documents/index.ts'
import type { CalendarOwner } from '../store/index.ts'
import { holdCalendar, ownerOf } from './owner.ts'
import { findCalendar, setTimezone } from './store.ts'

/** A change that finds another one made meanwhile is tried this often (calendar 13.1). */
const ATTEMPTS = 2

/** The calendar itself and its one setting (calendar 3.1). */
export function calendarRoutes({
  db,
}: {
  readonly db: Database
}): Pick<Handlers<'calendar'>, 'calendars.get' | 'calendars.update'> {
  return {
    'calendars.get': async ({ caller }) => calendarDocument(await findCalendar(db, ownerOf(caller))),

    'calendars.update': async ({ caller, body, ifMatch }) => {
      if (!isZoneName(body.timezone)) {
        throw invalid(['timezone'], 'Must be a name of the IANA time zone database, such as Europe/Berlin')
      }
      const changed = await db.transaction(async (tx) => {
        return update(tx, await holdCalendar(tx, caller), { timezone: body.timezone, ifMatch })
      })
      return calendarDocument(changed)
    },
  }
}

/** @throws ApiError 412 for another revision than `ifMatch` has; 409 when others change it each time. */
async function update(
  tx: Tx,
  owner: CalendarOwner,
  { timezone, ifMatch }: { readonly timezone: string; readonly ifMatch: IfMatch | undefined },
): Promise<ShownCalendar> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const calendar = await findCalendar(tx, owner)
    requireMatch(ifMatch, etagOfCalendar(calendar), calendar.revision)
    if (calendar.timezone === timezone) return calendar
    const changed = await setTimezone(tx, owner, { timezone, revision: calendar.revision })
    if (changed) return changed
  }
  throw new ApiError('race_condition')
}
