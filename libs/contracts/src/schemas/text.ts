import { z } from 'zod'
import { onWire } from '../validation/wire.ts'
import { CLIENT_ID } from '../vocabulary/ids.ts'
import { LIMITS } from '../vocabulary/limits.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Text for a header or a log line, without line endings of any kind, NUL and other control characters (mail 2). */
export function isSingleLine(text: string): boolean {
  return !CONTROL.test(text) && text.isWellFormed()
}

/**
 * One line: trimmed, no control characters, between `min` and `max` characters. A text that is too long is refused by
 * its length alone.
 */
export function line({ min = 0, max }: { readonly min?: number; readonly max: number }) {
  return z
    .string()
    .trim()
    .min(min)
    .max(max, { abort: true })
    .refine(isSingleLine, { error: 'Must not contain line breaks or other control characters' })
}

/**
 * Text of any length and form; NUL and lone surrogates are rejected, because no mail and no database can store them.
 */
export function prose() {
  return z.string().refine((text) => !text.includes('\u0000') && text.isWellFormed(), {
    error: 'Must not contain NUL or broken characters',
  })
}

/** Caller-chosen alias (identity 1.1). */
export const clientId = z
  .string()
  .regex(CLIENT_ID, { error: `Must be 1 to ${LIMITS.clientId} characters of A-Z a-z 0-9 - . _ ~` })
  .meta({ description: 'Alias chosen by the caller; repeating a create with it returns the existing resource.' })

/** Instant as it is sent: RFC 3339, UTC, milliseconds, `Z` (identity 1.2). */
export const instant = onWire(z.iso.datetime({ precision: 3 }), { type: 'string', format: 'date-time' })

const RFC_3339 = 'Must be an RFC 3339 date and time with a zone, for example 2026-10-01T16:30:00Z'

/** Years that every part of the system can write down, the database among them. */
const [FIRST, LAST] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')]

/**
 * Instant as it is taken: RFC 3339 with any zone and fraction, in either letter case; a date alone, or no zone, is
 * refused (identity 1.2).
 */
export const instantInput = onWire(
  z
    .string()
    .toUpperCase()
    .pipe(
      z.iso
        .datetime({ offset: true, error: RFC_3339, abort: true })
        .regex(/T\d\d:\d\d:\d\d/, { error: RFC_3339, abort: true })
        .transform((text) => new Date(text))
        .refine((at) => at.getTime() >= FIRST && at.getTime() <= LAST, { error: 'Must lie in the years 1 to 9999' }),
    ),
  { type: 'string', format: 'date-time' },
)

/** Whether a text is an absolute http(s) URL that names a host. */
export function isHttpUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && isSingleLine(text)
}

/** A member that is known and refused, so that callers do not believe it had an effect. */
export function refused(message: string) {
  return onWire(z.never({ error: message }).optional(), { not: {}, description: message })
}

/**
 * A list of at most `most` strings, which may also be given as its one element (mail 1 rule 8). Every list of strings
 * in a body is one of these.
 */
export function stringList<S extends z.ZodType<string, string>>(element: S, most: number) {
  return onWire(
    z.preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(element).max(most)),
    { anyOf: [{ type: 'string' }, { type: 'array', maxItems: most, items: { type: 'string' } }] },
  )
}
