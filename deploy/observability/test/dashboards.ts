import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'

const folder = path.resolve(import.meta.dirname, '../dashboards')

const promTarget = z.looseObject({ expr: z.string(), legendFormat: z.string(), datasource: z.unknown().optional() })
const sqlTarget = z.looseObject({ rawSql: z.string(), format: z.string(), datasource: z.unknown().optional() })

const variable = z.looseObject({
  type: z.string(),
  name: z.string(),
  datasource: z.unknown().optional(),
  query: z.string().optional(),
})

function dashboardOf<Target extends z.ZodType>(target: Target) {
  const panel = z.looseObject({
    type: z.string(),
    title: z.string(),
    description: z.string().optional(),
    datasource: z.unknown().optional(),
    targets: z.array(target).default([]),
    links: z.array(z.looseObject({ url: z.string() })).default([]),
    fieldConfig: z.looseObject({ defaults: z.looseObject({ unit: z.string().optional() }) }).optional(),
    gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  })
  return z.looseObject({
    uid: z.string(),
    title: z.string(),
    templating: z.object({ list: z.array(variable) }),
    panels: z.array(panel),
  })
}

const ofPrometheus = dashboardOf(promTarget)
const ofPostgres = dashboardOf(sqlTarget)

export type Dashboard = z.infer<typeof ofPrometheus>
export type SqlDashboard = z.infer<typeof ofPostgres>
export type Panel = Dashboard['panels'][number]

/** Every dashboard on Prometheus, as it is committed. */
export async function readDashboards(): Promise<Dashboard[]> {
  return (await documents('prometheus')).map((document) => ofPrometheus.parse(document))
}

/** Every dashboard on the database of metrics, as it is committed. */
export async function readSqlDashboards(): Promise<SqlDashboard[]> {
  return (await documents('grafana-postgresql-datasource')).map((document) => ofPostgres.parse(document))
}

const datasourceOf = z.object({
  templating: z.object({ list: z.array(z.looseObject({ query: z.unknown().optional() })) }),
})

async function documents(datasource: string): Promise<unknown[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()
  const all: unknown[] = await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(path.join(folder, file), 'utf8'))),
  )
  return all.filter((document) => datasourceOf.parse(document).templating.list[0]?.query === datasource)
}

/** The panels of a dashboard that show something, without the headings of its rows. */
export function shown<AnyPanel extends { readonly type: string }>({
  panels,
}: {
  readonly panels: readonly AnyPanel[]
}): AnyPanel[] {
  return panels.filter(({ type }) => type !== 'row')
}
