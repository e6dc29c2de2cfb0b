import { z } from 'zod'
import type { Dashboard, Panel } from '../test/dashboards.ts'
import type { Line } from './prometheus.ts'
import { picture, textAt } from './svg.ts'

const COLUMN = 46
const ROW = 26
const HEAD = 40
const PALETTE = ['#2f81f7', '#1a7f37', '#bf8700', '#8250df', '#cf222e', '#57606a', '#1b7c83', '#9a6700']
const TILES: Readonly<Record<string, string>> = { green: '#2da44e', orange: '#e16f24', red: '#cf222e' }

const thresholds = z.object({
  steps: z.array(z.object({ value: z.number().nullable(), color: z.string() })),
})

/** What Prometheus answered to the queries of a panel, in their order. */
export type Answers = ReadonlyMap<Panel, readonly (readonly Line[])[]>

/**
 * A dashboard with the values that Prometheus has: tiles and lines as Grafana places them; tables are left out.
 * @param title of the picture.
 */
export function drawDashboard(title: string, dashboard: Dashboard, answers: Answers): string {
  const panels = dashboard.panels.filter(({ type }) => type !== 'table')
  const bottom = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h))
  const parts = panels.map((panel) => {
    const box = {
      x: panel.gridPos.x * COLUMN + 4,
      y: HEAD + panel.gridPos.y * ROW + 2,
      width: panel.gridPos.w * COLUMN - 8,
      height: panel.gridPos.h * ROW - 4,
    }
    if (panel.type === 'row') return textAt(panel.title, { x: box.x, y: box.y + 17, size: 14 })
    const lines = (answers.get(panel) ?? []).flat()
    return panel.type === 'stat' ? tile(panel, lines, box) : graph(panel, answers.get(panel) ?? [], box)
  })
  const size = { width: 24 * COLUMN, height: HEAD + bottom * ROW + 10 }
  return picture({ title, ...size }, [textAt(dashboard.title, { x: 8, y: 26, size: 18 }), ...parts])
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

function tile(panel: Panel, lines: readonly Line[], box: Box): string {
  const value = lines[0]?.points.findLast(([, each]) => Number.isFinite(each))?.[1]
  const { steps } = thresholds.parse(panel.fieldConfig?.defaults['thresholds'])
  const step = value === undefined ? undefined : steps.findLast((each) => each.value === null || value >= each.value)
  const fill = (step && TILES[step.color]) ?? '#8c959f'
  const middle = box.x + box.width / 2
  return [
    `<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="4" fill="${fill}"/>`,
    textAt(panel.title, { x: middle, y: box.y + 22, size: 12, fill: '#ffffff', anchor: 'middle' }),
    textAt(value === undefined ? 'no data' : withUnit(value, panel.fieldConfig?.defaults.unit), {
      x: middle,
      y: box.y + 66,
      size: 26,
      fill: '#ffffff',
      anchor: 'middle',
    }),
  ].join('\n')
}

function graph(panel: Panel, answers: readonly (readonly Line[])[], box: Box): string {
  const named = answers.flatMap((lines, index) =>
    lines.map((line) => ({ ...line, name: legendOf(panel.targets[index]?.legendFormat ?? '', line.labels) })),
  )
  const points = named.flatMap(({ points: each }) => each).filter(([, value]) => Number.isFinite(value))
  const unit = panel.fieldConfig?.defaults.unit
  const frame = [
    `<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="4" fill="#f6f8fa" stroke="#d0d7de"/>`,
    textAt(panel.title, { x: box.x + 10, y: box.y + 18 }),
  ]
  if (points.length === 0)
    return [...frame, textAt('no data', { x: box.x + 10, y: box.y + 60, fill: '#57606a' })].join('\n')
  const most = Math.max(...points.map(([, value]) => value), 1e-9)
  const [first, last] = [Math.min(...points.map(([time]) => time)), Math.max(...points.map(([time]) => time))]
  const plot = { x: box.x + 10, y: box.y + 28, width: box.width - 20, height: box.height - 68 }
  const at = ([time, value]: readonly [number, number]): string => {
    const x = plot.x + ((time - first) / Math.max(1, last - first)) * plot.width
    return `${x.toFixed(1)},${(plot.y + plot.height * (1 - value / most)).toFixed(1)}`
  }
  const lines = named.map(({ points: each }, index) => {
    const finite = each.filter(([, value]) => Number.isFinite(value))
    return `<polyline fill="none" stroke="${PALETTE[index % PALETTE.length]}" stroke-width="1.5" points="${finite.map(at).join(' ')}"/>`
  })
  const legend = named.slice(0, 6).map(({ name }, index) => {
    const x = plot.x + (index % 3) * (plot.width / 3)
    const y = plot.y + plot.height + 16 + Math.floor(index / 3) * 15
    return textAt(name.slice(0, 30), { x, y, size: 11, fill: PALETTE[index % PALETTE.length] ?? '#1f2328' })
  })
  const scale = textAt(withUnit(most, unit), {
    x: box.x + box.width - 10,
    y: box.y + 18,
    size: 11,
    fill: '#57606a',
    anchor: 'end',
  })
  return [...frame, scale, ...lines, ...legend].join('\n')
}

function legendOf(format: string, labels: Readonly<Record<string, string>>): string {
  return format.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '')
}

function withUnit(value: number, unit: string | undefined): string {
  switch (unit) {
    case 's':
      return value < 1 ? `${(value * 1_000).toFixed(0)} ms` : `${value.toFixed(1)} s`
    case 'percentunit':
      return `${(value * 100).toFixed(1)} %`
    case 'bytes':
      return `${(value / 1024 / 1024).toFixed(0)} MiB`
    case 'ops':
    case 'reqps':
      return `${value.toFixed(2)} /s`
    default:
      return String(Math.round(value * 100) / 100)
  }
}
