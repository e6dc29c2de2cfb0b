import type { MetricsRebuild } from '@restante/contracts/internal'
import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { DAY_MS } from '../series/series.ts'
import type { Rebuilder } from './rebuilder.ts'
import { lastRebuild, type RebuildRow } from './store.ts'

/** What the operator's command asks about rebuilds. */
export function rebuildRoutes(
  db: Database,
  rebuilder: Pick<Rebuilder, 'begin'>,
): Pick<InternalHandlers<'metrics'>, 'metrics.startRebuild' | 'metrics.getRebuild'> {
  return {
    'metrics.startRebuild': async ({ body: { operator } }) => {
      const started = await rebuilder.begin(operator)
      const row = await lastRebuild(db)
      if (row === undefined) throw new Error('the rebuild that was started is gone')
      return { started, rebuild: documentOf(row) }
    },
    'metrics.getRebuild': async () => {
      const row = await lastRebuild(db)
      return row === undefined ? {} : { rebuild: documentOf(row) }
    },
  }
}

function documentOf(row: RebuildRow): MetricsRebuild {
  return {
    state: row.state,
    operator: row.operator,
    started_at: row.started_at.toISOString(),
    ...(row.ended_at !== null && { ended_at: row.ended_at.toISOString() }),
    from: new Date(row.cut_day * DAY_MS).toISOString(),
    read: row.read,
    total: row.total,
    ...(row.reason !== null && { reason: row.reason }),
  }
}
