import { COUNTED_EVENT_TYPES, RATE_TYPES, USAGE_TYPES } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { countByPeriod } from '../reading/events.ts'
import { ratesAt } from '../reading/rates.ts'
import { usageAt } from '../reading/usage.ts'
import type { Scope } from '../series/series.ts'

/** Bounds of a rate's window: a day, or a period where that is longer. */
const DAY_MS = 86_400_000

/** What the operator's command draws of an organization: as many equal periods as it has columns. */
export function showRoutes(db: Queryable): Pick<InternalHandlers<'metrics'>, 'metrics.showOrganization'> {
  return {
    'metrics.showOrganization': async ({ body }) => {
      const [from, to] = [Date.parse(body.start), Date.parse(body.end)]
      const period = Math.ceil((to - from) / body.points)
      const range = { from, to: from + period * body.points }
      const scope: Scope = { tier: 'organization', id: body.organization_id }
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
        usageAt(db, { scope, types: USAGE_TYPES.organization, range, period }),
        ratesAt(db, { scope, types: RATE_TYPES, range, period, window }),
      ])
      return {
        events: Object.fromEntries(
          [...events].map(([type, counted]) => {
            const counts = new Map(counted.map(({ at, count }) => [(at - from) / period, count]))
            return [type, Array.from({ length: body.points }, (_, index) => counts.get(index) ?? 0)]
          }),
        ),
        usage: Object.fromEntries([...usage].map(([type, points]) => [type, points.map(({ value }) => value)])),
        rates: Object.fromEntries([...rates].map(([type, points]) => [type, points.map(({ rate }) => rate)])),
      }
    },
  }
}
