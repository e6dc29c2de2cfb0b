import type { RecordedSpan } from '@restante/test-e2e/observability/otlp-receiver.ts'
import { picture, textAt } from './svg.ts'

const WIDTH = 1_100
const NAMES = 380
const ROW = 18
const HEAD = 46
const COLOURS: Readonly<Record<string, string>> = {
  'mail-ingest': '#2f81f7',
  gateway: '#8250df',
  'mail-send': '#bf8700',
  'domains-dns': '#57606a',
  'webhooks-dispatcher': '#1a7f37',
  'websocket-fanout': '#cf222e',
}

/** A trace as a waterfall: a bar per span, in the order of time; spans that are linked to it come last, dashed. */
export function drawTrace(trace: readonly RecordedSpan[], linked: readonly RecordedSpan[]): string {
  const all = [...trace, ...linked]
  const begin = Math.min(...all.map(({ beginMs }) => beginMs))
  const end = Math.max(...all.map(({ endMs }) => endMs))
  const scale = (WIDTH - NAMES - 90) / (end - begin)
  const depths = depthsOf(trace)
  const rows = all.map((span, index) => {
    const y = HEAD + index * ROW
    const x = NAMES + (span.beginMs - begin) * scale
    const width = Math.max(1, (span.endMs - span.beginMs) * scale)
    const isLinked = index >= trace.length
    const colour = COLOURS[span.service] ?? '#57606a'
    const fill = isLinked ? `fill="none" stroke="${colour}" stroke-dasharray="3 2"` : `fill="${colour}"`
    const indent = 8 + 12 * (depths.get(span.spanId) ?? 0)
    return [
      textAt(`${span.service}: ${nameOf(span)}${isLinked ? ' (linked)' : ''}`, {
        x: indent,
        y: y + 12,
        size: 11,
        fill: colour,
      }),
      `<rect x="${x.toFixed(1)}" y="${y + 3}" width="${width.toFixed(1)}" height="${ROW - 6}" rx="2" ${fill}/>`,
      textAt(`${(span.endMs - span.beginMs).toFixed(1)} ms`, {
        x: x + width + 4,
        y: y + 12,
        size: 10,
        fill: '#57606a',
      }),
    ].join('\n')
  })
  const title = 'One mail from SMTP to its webhook'
  const heading = `${title}: ${trace.length} spans of one trace, ${(end - begin).toFixed(0)} ms`
  const parts = [textAt(heading, { x: 8, y: 24, size: 15 }), ...rows]
  return picture({ title, width: WIDTH, height: HEAD + all.length * ROW + 12 }, parts)
}

/** Prepared statements have hashes for names, and databases of a test random ones: neither tells a reader anything. */
function nameOf({ name }: RecordedSpan): string {
  const [, statement] = /^pg\.query:(\S+)/.exec(name) ?? []
  if (statement === undefined) return name
  return `PostgreSQL ${/^(BEGIN|COMMIT)$/.test(statement) ? statement : 'statement'}`
}

/** How deep each span is below the first one. */
function depthsOf(trace: readonly RecordedSpan[]): ReadonlyMap<string, number> {
  const parents = new Map(trace.map(({ spanId, parentSpanId }) => [spanId, parentSpanId]))
  const depth = (id: string): number => {
    const parent = parents.get(id)
    return parent !== undefined && parents.has(parent) ? depth(parent) + 1 : 0
  }
  return new Map(trace.map(({ spanId }) => [spanId, depth(spanId)]))
}
