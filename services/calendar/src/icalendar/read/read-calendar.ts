import ICAL from 'ical.js'
import { readEvent } from './event.ts'
import { type Component, componentsOf, textOf } from './jcal.ts'
import { METHODS, type ReadEvent, type ReadFile, type ReadResult } from './read-file.ts'
import { TimeReader } from './times.ts'
import { UnreadableError } from './unreadable-error.ts'

/** Longer ones are not of any program, and do not fit an index. */
const MOST_UID_BYTES = 1_000
/** A series and its changed dates. Each is an event that is told of, in one transaction (decision 96). */
const MOST_EVENTS = 50

// Programs write properties and parameters that the library does not know, and quote what needs no quotes.
ICAL.design.strict = false

/** Reads a calendar file of a mail (calendar 15). To be called where its cost harms nothing else. */
export function readCalendar(bytes: Uint8Array): ReadResult {
  try {
    return { file: readFile(parsed(decoded(bytes))) }
  } catch (error) {
    if (error instanceof UnreadableError) return { unreadable: error.reason }
    throw error
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** The only calendar of a text. */
function parsed(text: string): Component {
  let component: unknown
  try {
    component = ICAL.parse(text.trim())
  } catch {
    throw new UnreadableError('damaged')
  }
  // Of several calendars there is a list.
  if (!isComponent(component) || component[0] !== 'vcalendar') throw new UnreadableError('damaged')
  return component
}

function isComponent(value: unknown): value is Component {
  return Array.isArray(value) && typeof value[0] === 'string' && Array.isArray(value[1]) && Array.isArray(value[2])
}

function readFile(calendar: Component): ReadFile {
  const given = textOf(calendar, 'method')?.trim().toUpperCase()
  const method = METHODS.find((name) => name === given)
  if (method === undefined) throw new UnreadableError('other_method')
  const components = componentsOf(calendar, 'vevent')
  if (components.length > MOST_EVENTS) throw new UnreadableError('too_many_events')
  const [uid, ...others] = new Set(components.map((component) => textOf(component, 'uid')?.trim()))
  if (uid === undefined || uid === '' || others.length > 0) throw new UnreadableError('no_single_event')
  if (Buffer.byteLength(uid) > MOST_UID_BYTES || /\p{Cc}/u.test(uid)) throw new UnreadableError('invalid_event')
  const times = new TimeReader(componentsOf(calendar, 'vtimezone'))
  return { method, uid, events: inOrder(components.map((component) => readEvent(component, times))) }
}

/** The event itself, then its dates; each once. */
function inOrder(events: readonly ReadEvent[]): ReadEvent[] {
  const itself = events.filter(({ recurrenceId }) => recurrenceId === undefined)
  const dates = events.filter(({ recurrenceId }) => recurrenceId !== undefined)
  const slots = new Set(dates.map(({ recurrenceId }) => `${recurrenceId?.wall} ${recurrenceId?.zone}`))
  if (itself.length > 1 || slots.size < dates.length) throw new UnreadableError('no_single_event')
  return [...itself, ...dates]
}
