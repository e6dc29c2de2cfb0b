import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'

const folder = path.resolve(import.meta.dirname, '../dashboards')

const target = z.looseObject({ expr: z.string(), legendFormat: z.string(), datasource: z.unknown().optional() })
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
const variable = z.looseObject({
  type: z.string(),
  name: z.string(),
  datasource: z.unknown().optional(),
  query: z.string(),
})
const dashboard = z.looseObject({
  uid: z.string(),
  title: z.string(),
  templating: z.object({ list: z.array(variable) }),
  panels: z.array(panel),
})

export type Panel = z.infer<typeof panel>
export type Dashboard = z.infer<typeof dashboard>

/** Every dashboard, as it is committed. */
export async function readDashboards(): Promise<Dashboard[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()
  return Promise.all(
    files.map(async (file) => dashboard.parse(JSON.parse(await readFile(path.join(folder, file), 'utf8')))),
  )
}

/** The panels of a dashboard that show something, without the headings of its rows. */
export function shown({ panels }: Dashboard): Panel[] {
  return panels.filter(({ type }) => type !== 'row')
}
