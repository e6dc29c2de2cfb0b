import { z } from 'zod'
import { COUNTED_EVENT_TYPES, RATE_TYPES, USAGE_TYPES } from '../vocabulary/metrics.ts'
import { defineInternal, INTERNAL, internalGroup } from './definition/define.ts'

const FROM_OPERATOR = { ...INTERNAL, service: 'metrics', callers: ['gateway'] } as const
const at = z.iso.datetime()

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
})
