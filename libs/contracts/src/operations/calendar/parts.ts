import { z } from 'zod'
import { pageQuery, queryBoolean, queryDateTime } from '../../schemas/query.ts'
import { onWire } from '../../validation/wire.ts'

/** Calendars are reached by the path of their inbox only (calendar 1). */
export const OF_INBOX = {
  service: 'calendar',
  prefixes: ['inbox'],
  tiers: ['organization', 'pod', 'inbox'],
  errors: ['forbidden'],
} as const

/** There is one store, so both answer the same (calendar 8). */
export const consistency = onWire(
  z
    .union([z.string(), z.array(z.string())])
    .pipe(z.enum(['eventual', 'primary'], { error: 'Must be eventual or primary' }))
    .optional(),
  { type: 'string', enum: ['eventual', 'primary'] },
)

/** `after` is now and `before` 90 days later unless they are given (calendar 8). */
export const calendarWindow = { after: queryDateTime.optional(), before: queryDateTime.optional() }

/** The query of a list of dates (calendar 2). */
export const datesQuery = {
  ...pageQuery,
  ...calendarWindow,
  include_overlapping: queryBoolean.optional().meta({
    description: 'Whether dates count that began before `after` and end after it. Default: true.',
  }),
  consistency,
}
