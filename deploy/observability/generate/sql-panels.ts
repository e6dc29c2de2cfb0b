import type { Builder } from '@grafana/grafana-foundation-sdk/cog'
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard'
import { baseGraph, baseTile, type GraphOptions, type Limits, type PanelOptions } from './panels.ts'
import { SQL_DATASOURCE, sqlTarget } from './sql.ts'

type SqlOptions = Omit<PanelOptions, 'queries'> & { readonly sql: string }

/** One number that a query in SQL answers with. */
export function sqlTile({ sql, ...options }: SqlOptions & { readonly limits?: Limits }): Builder<Panel> {
  return baseTile(options, SQL_DATASOURCE).withTarget(sqlTarget(sql, 'table'))
}

/** Lines over time that a query in SQL answers with. */
export function sqlGraph({ sql, ...options }: SqlOptions & GraphOptions): Builder<Panel> {
  // A point for each few pixels: a period shorter than a minute shows nothing more.
  return baseGraph(options, SQL_DATASOURCE).interval('1m').maxDataPoints(300).withTarget(sqlTarget(sql, 'time_series'))
}
