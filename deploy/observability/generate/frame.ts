import type { Builder } from '@grafana/grafana-foundation-sdk/cog'
import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Panel,
  QueryVariableBuilder,
  RowBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DATASOURCE } from './panels.ts'
import { SQL_DATASOURCE } from './sql.ts'

/** Links the dashboards to each other. */
const TAG = 'restante'

export interface Row {
  readonly title: string
  readonly panels: readonly Builder<Panel>[]
}

export interface DashboardOptions {
  /** Name of the file; `restante-<name>` is the uid. */
  readonly name: string
  readonly title: string
  readonly description: string
  /** Further variables after the data source and the namespace: each offers the values of a label of a metric. */
  readonly variables?: readonly { readonly label: string; readonly of: string }[]
  /** The first row answers the question whether it is keeping up. */
  readonly rows: readonly Row[]
}

/** A dashboard in the layout that all have in common. */
export function dashboard({ name, title, description, variables = [], rows }: DashboardOptions): Dashboard {
  const builder = frame({ name, title, description }, new DatasourceVariableBuilder('datasource').type(DATASOURCE.type))
    .time({ from: 'now-3h', to: 'now' })
    .refresh('30s')
    .withVariable(variable('namespace', 'restante_build_info'))
    .link(
      new DashboardLinkBuilder('Restante')
        .type(DashboardLinkType.Dashboards)
        .tags([TAG])
        .asDropdown(true)
        .includeVars(true)
        .keepTime(true),
    )
  for (const { label, of } of variables) builder.withVariable(variable(label, of))
  return withRows(builder, rows)
}

/** A dashboard about one organization, whose id its reader types, on the database of metrics. */
export function organizationDashboard({ rows, ...named }: Omit<DashboardOptions, 'variables'>): Dashboard {
  const builder = frame(named, new DatasourceVariableBuilder('database').type(SQL_DATASOURCE.type))
    .time({ from: 'now-7d', to: 'now' })
    .withVariable(new TextBoxVariableBuilder('organization').label('Organization (id)').defaultValue(''))
  return withRows(builder, rows)
}

function frame(
  { name, title, description }: Pick<DashboardOptions, 'name' | 'title' | 'description'>,
  datasource: DatasourceVariableBuilder,
): DashboardBuilder {
  return new DashboardBuilder(`Restante / ${title}`)
    .uid(`restante-${name}`)
    .description(description)
    .tags([TAG])
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(datasource.label('Data source'))
}

function withRows(builder: DashboardBuilder, rows: readonly Row[]): Dashboard {
  for (const row of rows) {
    builder.withRow(new RowBuilder(row.title))
    for (const panel of row.panels) builder.withPanel(panel)
  }
  const built = builder.build()
  return { ...built, panels: (built.panels ?? []).map((panel, index) => ({ ...panel, id: index + 1 })) }
}

function variable(label: string, metric: string): QueryVariableBuilder {
  const within = label === 'namespace' ? metric : `${metric}{namespace=~"$namespace"}`
  return new QueryVariableBuilder(label)
    .label(label)
    .datasource(DATASOURCE)
    .query(`label_values(${within}, ${label})`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ text: 'All', value: '$__all' })
}
