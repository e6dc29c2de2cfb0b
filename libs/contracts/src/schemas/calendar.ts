import { z } from 'zod'
import { onWire } from '../validation/wire.ts'
import {
  ATTENDEE_ROLES,
  ATTENDEE_STATUSES,
  CALENDAR_LIMITS,
  DURATION_MODES,
  EVENT_STATUSES,
} from '../vocabulary/calendar.ts'
import { instantInput, isSingleLine, prose } from './text.ts'

/** A wall time as it is sent and taken: with a time of day, or of a whole day (calendar 4). */
export const wallTime = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d)?$/, {
    error: 'Must be a local time such as 2026-10-07T09:00:00 without an offset, or a day such as 2026-10-07',
  })
  .meta({ description: 'Local time of `timezone`: `YYYY-MM-DDTHH:mm:ss`, or `YYYY-MM-DD` for whole days.' })

/** An instant without a fraction: when a boundary of an event is reached (calendar 3.2). */
export const boundaryInstant = onWire(z.iso.datetime({ precision: 0 }), { type: 'string', format: 'date-time' })

/** A name of the IANA database; the service knows which exist. */
export const timezone = z
  .string()
  .max(64)
  .meta({ description: 'Name of the IANA time zone database.', examples: ['Europe/Berlin'] })

/**
 * A member that may be left out, and has no null: unlike elsewhere, null is an error and not the same as absent
 * (calendar 6).
 */
export function withoutNull<S extends z.ZodType>(schema: S) {
  return schema
    .nullable()
    .transform((value, context): z.output<S> => {
      if (value !== null) return value
      context.addIssue({ code: 'custom', message: 'Must not be null; leave it out to keep it' })
      return z.NEVER
    })
    .optional()
}

/** Any JSON; never shown to attendees. */
export const eventMetadata = z
  .unknown()
  .refine((value) => value === undefined || Buffer.byteLength(JSON.stringify(value)) <= CALENDAR_LIMITS.metadata, {
    error: `Must be at most ${CALENDAR_LIMITS.metadata} bytes of JSON`,
  })
  .refine((value) => value === undefined || isStorable(value), { error: 'Must not contain NUL or broken characters' })
  .meta({ description: 'Any JSON value, for the caller alone: it is never mailed.' })

/** PostgreSQL stores no NUL, and no half of a surrogate pair, in JSON. */
function isStorable(value: unknown): boolean {
  const text = JSON.stringify(value)
  return !text.includes(String.raw`\u0000`) && !/\\ud[89a-f]/i.test(text) && text.isWellFormed()
}

const bytesUpTo = (max: number) =>
  prose().refine((text) => Buffer.byteLength(text) <= max, { error: `Must be at most ${max} bytes` })

export const eventTitle = z
  .string()
  .min(1)
  .max(CALENDAR_LIMITS.title, { abort: true })
  .refine(isSingleLine, { error: 'Must not contain line breaks or other control characters' })
export const eventDescription = bytesUpTo(CALENDAR_LIMITS.description)
export const eventLocation = prose().max(CALENDAR_LIMITS.location)
export const eventStatus = z.enum(EVENT_STATUSES)
export const durationMode = z.enum(DURATION_MODES)

/** What was said with an answer; tab and line breaks are its only control characters. */
export const responseComment = bytesUpTo(CALENDAR_LIMITS.comment).refine((text) => !/(?![\t\r\n])\p{Cc}/u.test(text), {
  error: 'Must not contain control characters other than tab and line breaks',
})

/** Attendees as callers give them. Addresses are compared without case; the service refuses two of one address. */
export const attendeesInput = z
  .array(
    z.object({
      email: z.string().max(320),
      name: z
        .string()
        .max(CALENDAR_LIMITS.attendeeName, { abort: true })
        .refine(isSingleLine, { error: 'Must not contain line breaks or other control characters' })
        .optional(),
      status: z.enum(ATTENDEE_STATUSES).optional(),
      role: z.enum(ATTENDEE_ROLES).optional(),
      comment: prose()
        .optional()
        .meta({ description: `Left out above ${CALENDAR_LIMITS.comment} bytes.` }),
      responded_at: instantInput.optional(),
    }),
  )
  .max(CALENDAR_LIMITS.attendees)

const period = z.object({ start: wallTime, end: wallTime.optional(), duration: z.string().max(64).optional() })

/** When an event repeats, as callers give it (calendar 3.4). */
export const recurrenceInput = z.object({
  rule: z.string().max(4_096).meta({ description: 'RRULE of RFC 5545, with or without `RRULE:`.' }),
  exdates: z
    .array(wallTime)
    .max(CALENDAR_LIMITS.exdates)
    .optional()
    .meta({ description: 'Starts that the rule makes and that are left out.' }),
  rdates: z
    .array(z.union([wallTime, period], { error: 'Must be a local time, or an object of start and end or duration' }))
    .max(CALENDAR_LIMITS.rdates)
    .optional()
    .meta({ description: 'Further starts; with `end`, or an ISO 8601 `duration`, of a length of their own.' }),
})
