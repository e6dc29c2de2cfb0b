import type { UpdateEventBody } from '@restante/contracts/operations'
import { invalid } from '@restante/service/errors'
import { isZoneName, readWall } from '../../dates/index.ts'
import { requireDateFields } from './date-change.ts'
import { described } from './event-change.ts'

/**
 * Refuses what is wrong in a change whatever the state of its event is, before that is looked for (calendar 1).
 * @param slot of a date; undefined: of an event.
 * @throws ApiError 400
 */
export function requireSound(body: UpdateEventBody, slot: string | undefined): void {
  if (Object.values(body).every((value) => value === undefined)) throw invalid([], 'Must name a field to change')
  described(body)
  if (slot === undefined) requireBothTimes(body)
  else {
    requireDateFields(body)
    const isAlone = body.start !== undefined && body.end === undefined
    if (isAlone) throw invalid(['end'], '`start` needs `end`; `end` may come alone')
  }
  requireTimes(body)
  if (body.timezone !== undefined && !isZoneName(body.timezone)) {
    throw invalid(['timezone'], 'Must be a name of the IANA time zone database, such as Europe/Berlin')
  }
}

function requireBothTimes({ start, end }: UpdateEventBody): void {
  if ((start === undefined) === (end === undefined)) return
  throw invalid([start === undefined ? 'start' : 'end'], '`start` and `end` must come together')
}

/** Times that exist, in their order, in the form that the body says, where it says one. */
function requireTimes({ start, end, all_day, duration_mode }: UpdateEventBody): void {
  const given = start ?? end
  const allDay = all_day ?? (given === undefined ? undefined : !given.includes('T'))
  if (start !== undefined) requireTime('start', start, allDay)
  if (end !== undefined) requireTime('end', end, allDay)
  // Both have the same form here, whose order is that of the text.
  if (start !== undefined && end !== undefined && (allDay ? end < start : end <= start)) {
    throw invalid(['end'], allDay ? 'Must not be before `start`' : 'Must be after `start`')
  }
  if (allDay && duration_mode === 'exact') {
    throw invalid(['duration_mode'], 'Must be nominal for an event of whole days')
  }
}

function requireTime(path: 'start' | 'end', text: string, allDay: boolean | undefined): void {
  if (readWall(text) === undefined || text.includes('T') === allDay) {
    const form = allDay ? 'a day such as 2026-10-07' : 'a local time such as 2026-10-07T09:00:00'
    throw invalid([path], `Must be ${form}, without an offset`)
  }
  if (text < '1900') throw invalid([path], 'Must be in the years 1900 to 9999')
}
