import type { Attendee } from '@restante/contracts/resources'
import { CALENDAR_LIMITS, type EventStatus } from '@restante/contracts/vocabulary'
import { isValidAddress, normalizeAddress } from '@restante/mime'
import { invalid } from '@restante/service/errors'
import { readRecurrence } from '../../dates/index.ts'
import type { ReadEvent } from '../../icalendar/read/index.ts'
import type { EventRow, Schedule } from '../../model/rows.ts'
import { addedOf, localOf, ruleWith, scheduleOf, type TimeContext } from './times.ts'

/** What a file says of an event or a date, cut to our limits (calendar 15). */
export interface Described {
  readonly title: string
  readonly description: string | null
  readonly location: string | null
  readonly status: EventStatus
  readonly attendees: readonly Attendee[]
}

export interface ImportContext extends TimeContext {
  /** Of the inbox. */
  readonly address: string
}

/** All that a file says of a one-off or a series. @throws ApiError for what no event can be. */
export function eventFields(
  event: ReadEvent,
  context: ImportContext,
): Described & Schedule & Pick<EventRow, 'rule' | 'exdates' | 'rdates'> {
  const { rule, exdates, rdates } = event
  const isSeries = rule !== undefined || rdates.length > 0
  const schedule = scheduleOf(event, context, isSeries)
  return { ...described(event, context), ...schedule, ...recurrence() }

  function recurrence(): Pick<EventRow, 'rule' | 'exdates' | 'rdates'> {
    if (!isSeries) return { rule: null, exdates: [], rdates: [] }
    if (exdates.length > CALENDAR_LIMITS.exdates || rdates.length > CALENDAR_LIMITS.rdates) {
      throw invalid(['recurrence'], 'It has too many dates')
    }
    return readRecurrence(
      {
        // Dates without a rule are those that are listed: a rule of one date makes the first.
        rule: rule === undefined ? 'FREQ=DAILY;COUNT=1' : ruleWith(rule, schedule, context),
        exdates: exdates.map((time) => localOf(time, schedule, context)),
        rdates: rdates
          .map((added) => addedOf(added, schedule, context))
          .filter((added) => startOf(added) !== schedule.start),
      },
      schedule,
    )
  }
}

function startOf(added: ReturnType<typeof addedOf>): string {
  return typeof added === 'string' ? added : added.start
}

const UNTITLED = '(no title)'

export function described(event: ReadEvent, context: ImportContext): Described {
  const { title, description, location, status } = event
  return {
    title: cut(title.replaceAll(/\s+/g, ' ').trim(), CALENDAR_LIMITS.title) || UNTITLED,
    description: description === undefined ? null : cutBytes(description, CALENDAR_LIMITS.description),
    location: location === undefined ? null : cut(location, CALENDAR_LIMITS.location),
    status,
    attendees: attendeesOf(event, context),
  }
}

/**
 * Each address once, that of the inbox as it is written here, by which it is looked up. Of too many the inbox and the organizer
 * are kept.
 */
function attendeesOf({ attendees, organizer }: ReadEvent, { address }: ImportContext): Attendee[] {
  const own = normalizeAddress(address)
  const unique = new Map<string, Attendee>()
  for (const { email: given, name, status, role } of attendees) {
    if (!isValidAddress(given)) continue
    const key = normalizeAddress(given)
    const email = key === own ? address : given.toLowerCase()
    const shown = name && cut(name.replaceAll(/\s+/g, ' '), CALENDAR_LIMITS.attendeeName)
    if (!unique.has(key)) unique.set(key, { email, ...(shown && { name: shown }), status, role })
  }
  const all = [...unique.values()]
  if (all.length <= CALENDAR_LIMITS.attendees) return all
  const kept = new Set([own, ...(organizer === undefined ? [] : [normalizeAddress(organizer)])])
  const first = all.filter(({ email }) => kept.has(normalizeAddress(email)))
  const others = all
    .filter(({ email }) => !kept.has(normalizeAddress(email)))
    .slice(0, CALENDAR_LIMITS.attendees - first.length)
  const left = new Set([...first, ...others])
  return all.filter((attendee) => left.has(attendee))
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : withoutHalf(text.slice(0, characters))
}

export function cutBytes(text: string, bytes: number): string {
  const all = Buffer.from(text)
  if (all.length <= bytes) return text
  let end = bytes
  // Not within a character: its further bytes begin with the bits 10.
  while (end > 0 && ((all[end] ?? 0) & 0xc0) === 0x80) end--
  return all.subarray(0, end).toString()
}

function withoutHalf(text: string): string {
  return text.isWellFormed() ? text : text.slice(0, -1)
}
