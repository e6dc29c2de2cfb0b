import { z } from 'zod'
import { NOTHING } from '../../definition/define.ts'
import { COUNTED_EVENT_TYPES, RATE_TYPES, USAGE_TYPES } from '../../vocabulary/metrics.ts'
import { defineInternal, INTERNAL, internalGroup } from '../definition/define.ts'

const FROM_OPERATOR = { ...INTERNAL, service: 'metrics', callers: ['gateway'] } as const
const operator = z.string().min(1).meta({ description: 'Who asked for it, for the log.' })
const at = z.iso.datetime()

/** A rebuild of the buckets from the topics. */
const rebuild = z.object({
  state: z.enum(['reading', 'switched', 'failed', 'abandoned']),
  operator: z.string(),
  started_at: at,
  ended_at: at.optional(),
  from: at.meta({ description: 'Buckets before it are taken over unchanged: the topics no longer hold their events.' }),
  read: z.int().meta({ description: 'Records of the topics read so far.' }),
  total: z.int().meta({ description: 'Records to read.' }),
  reason: z.string().optional().meta({ description: 'Why it failed.' }),
})
export type MetricsRebuild = z.infer<typeof rebuild>

const series = <const Name extends string>(names: readonly Name[]) =>
  z.partialRecord(z.enum(names), z.array(z.number()))

/** Calls of the operator's command line. */
export const metricsInternalOperations = internalGroup({
  'metrics.showOrganization': defineInternal({
    ...FROM_OPERATOR,
    id: 'metrics.showOrganization',
    path: '/internal/metrics/show',
    summary: 'List events, usage and rates of an organization in equal periods, oldest first',
    body: z.object({ organization_id: z.guid(), start: at, end: at, points: z.int().min(1).max(200) }),
    response: z.object({
      events: series(COUNTED_EVENT_TYPES),
      usage: series(USAGE_TYPES.organization),
      rates: z.partialRecord(z.enum(RATE_TYPES), z.array(z.number().nullable())),
    }),
  }),
  'metrics.startRebuild': defineInternal({
    ...FROM_OPERATOR,
    id: 'metrics.startRebuild',
    path: '/internal/metrics/start-rebuild',
    summary: 'Rebuild what the topics still hold beside the live buckets, and switch over; one at a time',
    body: z.object({ operator }),
    response: z.object({ rebuild, started: z.boolean().meta({ description: 'False: one was running already.' }) }),
  }),
  'metrics.getRebuild': defineInternal({
    ...FROM_OPERATOR,
    id: 'metrics.getRebuild',
    path: '/internal/metrics/get-rebuild',
    summary: 'Show the last rebuild; absent when there was none',
    body: NOTHING,
    response: z.object({ rebuild: rebuild.optional() }),
  }),
  'metrics.compare': defineInternal({
    ...FROM_OPERATOR,
    id: 'metrics.compare',
    path: '/internal/metrics/compare',
    summary: 'Compare running totals with the counts of their owners now, as every night',
    body: z.object({ operator }),
    response: z.object({ started: z.boolean().meta({ description: 'False: one was running already.' }) }),
  }),
})
