import type { Builder } from '@grafana/grafana-foundation-sdk/cog'
import {
  BigValueColorMode,
  BigValueGraphMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TableCellHeight,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import {
  DashboardLinkBuilder,
  DashboardLinkType,
  type Panel,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat'
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table'
import { PanelBuilder as TimeSeriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries'
import type { Query } from './queries.ts'

/** The data source that the reader has chosen; no dashboard names one. */
export const DATASOURCE = { type: 'prometheus', uid: '$' + '{datasource}' }
const DECIMALS = 2

export interface PanelOptions {
  readonly title: string
  /** What it shows, and what good looks like. */
  readonly description: string
  /** A unit of Grafana: `s`, `bytes`, `reqps`, `percentunit`, `short`. */
  readonly unit: string
  readonly queries: readonly Query[]
  /** Names of alerts, whose runbooks the panel links to. */
  readonly runbooks?: readonly string[]
}

export interface GraphOptions {
  readonly width?: number
  readonly stacked?: boolean
  readonly max?: number
}

interface DataSource {
  readonly type: string
  readonly uid: string
}

/** A value that turns orange, then red; with `orange` above `red`, small values are bad. */
export interface Limits {
  readonly orange: number
  readonly red: number
}

/** One number with a colour: the answer to a question. Four stand in a row unless `width` says otherwise. */
export function tile(options: PanelOptions & { readonly limits: Limits; readonly width?: number }): Builder<Panel> {
  const panel = baseTile(options, DATASOURCE)
  for (const target of targets(options.queries)) panel.withTarget(target)
  return panel
}

/** Such a number without its query; without limits it has no colour. */
export function baseTile(
  options: Omit<PanelOptions, 'queries'> & { readonly limits?: Limits; readonly width?: number },
  datasource: DataSource,
): StatBuilder {
  const panel = new StatBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(datasource)
    .unit(options.unit)
    .decimals(options.unit === 'short' && options.limits === undefined ? 0 : DECIMALS)
    .noValue('no data')
    .height(4)
    .span(options.width ?? 6)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false))
    .colorMode(options.limits === undefined ? BigValueColorMode.None : BigValueColorMode.Background)
    .graphMode(BigValueGraphMode.Area)
    .links(runbookLinks(options.runbooks))
  if (options.limits !== undefined) panel.thresholds(thresholds(options.limits))
  return panel
}

/** Lines over time. Two stand in a row unless `width` says otherwise. */
export function graph(options: PanelOptions & GraphOptions): Builder<Panel> {
  const panel = baseGraph(options, DATASOURCE)
  for (const target of targets(options.queries)) panel.withTarget(target)
  return panel
}

/** Such lines without their queries. */
export function baseGraph(
  options: Omit<PanelOptions, 'queries'> & GraphOptions,
  datasource: DataSource,
): TimeSeriesBuilder {
  const panel = new TimeSeriesBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(datasource)
    .unit(options.unit)
    .min(0)
    .height(8)
    .span(options.width ?? 12)
    .lineWidth(1)
    .fillOpacity(options.stacked ? 40 : 10)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .links(runbookLinks(options.runbooks))
  if (options.max !== undefined) panel.max(options.max)
  if (options.stacked) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'))
  return panel
}

/** The current values of one query, a row per series. */
export function table(
  options: Omit<PanelOptions, 'queries'> & {
    readonly query: string
    readonly width?: number
    readonly hidden?: readonly string[]
  },
): Builder<Panel> {
  const hidden = ['Time', '__name__', ...(options.hidden ?? [])]
  return new TableBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(DATASOURCE)
    .unit(options.unit)
    .noValue('none')
    .height(8)
    .span(options.width ?? 12)
    .cellHeight(TableCellHeight.Sm)
    .links(runbookLinks(options.runbooks))
    .withTarget(query({ expr: options.query, legend: '' }, 'A').instant().format(PromQueryFormat.Table))
    .withTransformation({
      id: 'organize',
      options: { excludeByName: Object.fromEntries(hidden.map((name) => [name, true])) },
    })
}

function thresholds({ orange, red }: Limits): ThresholdsConfigBuilder {
  const steps =
    orange <= red
      ? [
          { value: null, color: 'green' },
          { value: orange, color: 'orange' },
          { value: red, color: 'red' },
        ]
      : [
          { value: null, color: 'red' },
          { value: red, color: 'orange' },
          { value: orange, color: 'green' },
        ]
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps)
}

function targets(queries: readonly Query[]): DataqueryBuilder[] {
  return queries.map((each, index) => query(each, String.fromCharCode('A'.charCodeAt(0) + index)).range())
}

function query({ expr, legend }: Query, refId: string): DataqueryBuilder {
  return new DataqueryBuilder().refId(refId).datasource(DATASOURCE).expr(expr).legendFormat(legend)
}

/** The chart replaces the folder by the address at which the runbooks are served. */
function runbookLinks(alerts: readonly string[] = []): DashboardLinkBuilder[] {
  return alerts.map((alert) =>
    new DashboardLinkBuilder(`Runbook: ${alert}`)
      .type(DashboardLinkType.Link)
      .url(`docs/runbooks/${alert}.md`)
      .targetBlank(true),
  )
}
