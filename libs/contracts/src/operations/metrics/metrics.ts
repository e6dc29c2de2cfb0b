import { z } from 'zod'
import { BASE, define, group } from '../../definition/define.ts'
import { queryBoolean, queryDateTime, queryIntegerWithin, queryNames } from '../../schemas/query.ts'
import { instant } from '../../schemas/text.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { COUNTED_EVENT_TYPES, RATE_TYPES, USAGE_TYPES } from '../../vocabulary/metrics.ts'
import { TIERS } from '../../vocabulary/tiers.ts'

const { limit, period, ratePeriod, window } = LIMITS.metrics

const METRICS = {
  ...BASE,
  service: 'metrics',
  prefixes: TIERS,
  tiers: TIERS,
  method: 'GET',
  permission: 'metrics_read',
  errors: ['query_range_too_wide'],
} as const

const range = {
  start: queryDateTime.optional().meta({ description: 'Default: 24 hours before `end`.' }),
  end: queryDateTime.optional().meta({ description: 'Default, and at most: now.' }),
  limit: queryIntegerWithin(limit).optional().meta({ description: 'Entries per type; default 1000.' }),
  descending: queryBoolean.optional().meta({ description: 'Newest first.' }),
}

const eventsQuery = z.object({
  event_types: queryNames(COUNTED_EVENT_TYPES, 'event type').optional(),
  ...range,
  period: queryIntegerWithin(period).optional().meta({
    description: 'Seconds that one entry covers; without it there is an entry for each event.',
  }),
})
export type MetricEventsQuery = z.output<typeof eventsQuery>

const usageQuery = z.object({
  usage_types: queryNames(USAGE_TYPES.organization, 'usage type').optional(),
  ...range,
  period: queryIntegerWithin(period).optional().meta({ description: 'Seconds between two points; default 3600.' }),
})
export type MetricUsageQuery = z.output<typeof usageQuery>

const ratesQuery = z.object({
  rate_types: queryNames(RATE_TYPES, 'rate type').optional(),
  ...range,
  period: queryIntegerWithin({ ...period, ...ratePeriod })
    .optional()
    .meta({
      description: 'Seconds between two points; default 3600.',
    }),
  window: queryIntegerWithin({ min: ratePeriod.min, max: window.max }).optional().meta({
    description: 'Seconds before a point that its rate is about, a multiple of `period`; default 86400.',
  }),
})
export type MetricRatesQuery = z.output<typeof ratesQuery>

/** A map with the requested types as its members: there is no page around it (identity 9). */
function byType<const Name extends string, Entry extends z.ZodType>(names: readonly Name[], entry: Entry) {
  return z.partialRecord(z.enum(names), z.array(entry))
}

const events = byType(COUNTED_EVENT_TYPES, z.object({ timestamp: instant, count: z.int() })).meta({
  id: 'MetricEvents',
})
const usage = byType(USAGE_TYPES.organization, z.object({ timestamp: instant, value: z.int() })).meta({
  id: 'MetricUsage',
})
const rates = byType(
  RATE_TYPES,
  z.object({
    timestamp: instant,
    rate: z.number().nullable().meta({ description: 'A share: 0.05 is 5 %. Null where nothing was sent.' }),
    sent: z.int().meta({ description: 'Recipients.' }),
  }),
).meta({ id: 'MetricRates' })
export type MetricEvents = z.output<typeof events>
export type MetricUsage = z.output<typeof usage>
export type MetricRates = z.output<typeof rates>

/** What happened, what is stored and what comes back, over time (identity 9). */
export const metricOperations = group({
  'metrics.listEvents': define({
    ...METRICS,
    id: 'metrics.listEvents',
    path: '/metrics/events',
    alsoNeeds: ['label_spam_read', 'label_blocked_read', 'label_unauthenticated_read'],
    summary: 'Count events by type; types that the key may not see are empty',
    query: eventsQuery,
    response: events,
  }),
  'metrics.listUsage': define({
    ...METRICS,
    id: 'metrics.listUsage',
    path: '/metrics/usage',
    summary: 'List running totals of what is stored, one point per period',
    query: usageQuery,
    response: usage,
  }),
  'metrics.listRates': define({
    ...METRICS,
    id: 'metrics.listRates',
    path: '/metrics/rates',
    summary: 'List shares of sent mail that bounced or was complained about, one point per period',
    query: ratesQuery,
    response: rates,
  }),
  'metrics.list': define({
    ...METRICS,
    id: 'metrics.list',
    path: '/metrics',
    alsoNeeds: ['label_spam_read', 'label_blocked_read', 'label_unauthenticated_read'],
    summary: 'Older path of `/metrics/events`',
    query: eventsQuery,
    response: events,
  }),
})
