import { isUuid } from '@restante/contracts/vocabulary'

/** An event, or one date of it by its original start. */
export interface EventReference {
  readonly eventId: string
  /** Wall time; undefined: the event itself. */
  readonly slot: string | undefined
}

const TIMED = /^(.{36})_t(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)$/
const WHOLE_DAY = /^(.{36})_d(\d{4})(\d\d)(\d\d)$/

/**
 * Reads the id of an event or of a date (calendar 11). Whether the event has such a date is for its rule to decide.
 * @returns undefined for anything else.
 */
export function readEventId(text: string): EventReference | undefined {
  if (isUuid(text)) return { eventId: text.toLowerCase(), slot: undefined }
  const [, id = '', ...parts] = TIMED.exec(text) ?? WHOLE_DAY.exec(text) ?? []
  if (!isUuid(id)) return undefined
  const [year, month, day, ...time] = parts
  const date = `${year}-${month}-${day}`
  return { eventId: id.toLowerCase(), slot: time.length === 0 ? date : `${date}T${time.join(':')}` }
}

/** The id of the date of an event that starts originally at a slot. */
export function datedId(eventId: string, slot: string): string {
  const isTimed = slot.includes('T')
  return `${eventId}_${isTimed ? 't' : 'd'}${slot.replaceAll(/[-:]/g, '')}`
}
