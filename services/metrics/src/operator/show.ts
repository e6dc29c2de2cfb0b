import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { COUNTED_EVENT_TYPES, RATE_TYPES, USAGE_TYPES } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { countByPeriod } from '../reading/events.ts'
import { ratesAt } from '../reading/rates.ts'
import { usageAt } from '../reading/usage.ts'
import { DAY_MS, type Scope } from '../series/series.ts'

type Asked = InternalRequestOf<'metrics.showOrganization'>
type Shown = InternalResponseOf<'metrics.showOrganization'>

/** Answers what the operator's command draws of an organization. */
export function showRoutes(db: Queryable): Pick<InternalHandlers<'metrics'>, 'metrics.showOrganization'> {
  return { 'metrics.showOrganization': ({ body }) => showOrganization(db, body) }
}

/** What happened, what is stored and what came back in an organization, in as many equal periods as are asked for. */
export async function showOrganization(db: Queryable, body: Asked): Promise<Shown> {
  const [from, to] = [Date.parse(body.start), Date.parse(body.end)]
  const period = Math.ceil((to - from) / body.points)
  const range = { from, to: from + period * body.points }
  // Totals and rates are those at the end of each period, so that the last ones are the present ones.
  const ends = { from: range.from + period, to: range.to + period }
  const scope: Scope = { tier: 'organization', id: body.organization_id }
  // A day, or a period where that is longer.
  const window = Math.ceil(DAY_MS / period) * period
  const [events, usage, rates] = await Promise.all([
    countByPeriod(db, {
      scope,
      types: COUNTED_EVENT_TYPES,
      range,
      limit: body.points,
      descending: false,
      period,
    }),
    usageAt(db, { scope, types: USAGE_TYPES.organization, range: ends, period }),
    ratesAt(db, { scope, types: RATE_TYPES, range: ends, period, window }),
  ])
  return {
    events: Object.fromEntries(
      [...events].map(([type, counted]) => {
        const counts = new Map(counted.map(({ index, sum }) => [index, sum]))
        return [type, Array.from({ length: body.points }, (_, index) => counts.get(index) ?? 0)]
      }),
    ),
    usage: Object.fromEntries([...usage].map(([type, points]) => [type, points.map(({ value }) => value)])),
    rates: Object.fromEntries([...rates].map(([type, points]) => [type, points.map(({ rate }) => rate)])),
  }
}
