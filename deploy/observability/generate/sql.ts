import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog'

/**
 * A data source of PostgreSQL that the reader has chosen: the database of metrics. Links between dashboards pass variables on,
 * so its variable has another name than that of Prometheus.
 */
export const SQL_DATASOURCE = { type: 'grafana-postgresql-datasource', uid: '$' + '{database}' }

/** The SDK knows no queries of PostgreSQL. These are the members that the data source of Grafana reads. */
interface SqlTarget extends Dataquery {
  readonly refId: string
  readonly datasource: typeof SQL_DATASOURCE
  readonly editorMode: 'code'
  readonly rawQuery: true
  readonly rawSql: string
  /** `time_series` needs the columns `time` and `value`, and `metric` where there are several. */
  readonly format: 'time_series' | 'table'
}

/** A query of a panel in SQL. */
export function sqlTarget(rawSql: string, format: SqlTarget['format']): Builder<Dataquery> {
  const target: SqlTarget = {
    refId: 'A',
    datasource: SQL_DATASOURCE,
    editorMode: 'code',
    rawQuery: true,
    rawSql,
    format,
    _implementsDataqueryVariant: () => {},
  }
  return { build: () => target }
}

/** The chosen organization, quoted by Grafana, as an id. */
const ORGANIZATION = '$' + '{organization:sqlstring}::uuid'
const STEP = "$__interval_ms * interval '1 millisecond'"

/** Series of a function of the database (services/metrics/prisma) over the chosen range, a line for each name. */
export function seriesOf(
  call: 'metrics_events' | 'metrics_usage' | 'metrics_rates',
  value: 'count' | 'value',
  names: readonly string[],
): string {
  return `select f.time, name as metric, f.${value} as value
  from unnest(array[${names.map((name) => `'${name}'`).join(', ')}]) as name
 cross join lateral ${call}(${ORGANIZATION}, name, $__timeFrom(), $__timeTo(), ${STEP}) as f
 order by f.time`
}

/** The events of a type in the chosen range. */
export function countOf(type: string): string {
  const whole = '$__timeTo()::timestamptz - $__timeFrom()::timestamptz'
  return `select count as value from metrics_events(${ORGANIZATION}, '${type}', $__timeFrom(), $__timeTo(), ${whole})`
}

/** A rate of the day that ends with the chosen range. */
export function rateAtEnd(rate: string): string {
  const justAfter = "$__timeTo()::timestamptz + interval '1 second'"
  return `select value from metrics_rates(${ORGANIZATION}, '${rate}', $__timeTo(), ${justAfter}, interval '1 day')`
}
