import { readFile } from 'node:fs/promises'
import path from 'node:path'

const page = path.resolve(import.meta.dirname, '../../../docs/metrics.md')
const ROW = /^\| `(\w+)` \| (\w+) \| (.*?) \|/

export interface DeclaredMetric {
  readonly type: string
  readonly labels: readonly string[]
}

/** Every series name that the services declare (docs/metrics.md), with those of histograms and summaries. */
export async function readDeclared(): Promise<ReadonlyMap<string, DeclaredMetric>> {
  const lines = (await readFile(page, 'utf8')).split('\n')
  return new Map(lines.flatMap((line) => seriesOf(ROW.exec(line))))
}

function seriesOf(row: RegExpExecArray | null): [string, DeclaredMetric][] {
  const [, name = '', type = '', labels = ''] = row ?? []
  if (name === '') return []
  const own = { type, labels: Array.from(labels.matchAll(/`(\w+)`/g), ([, label = '']) => label) }
  if (type !== 'histogram' && type !== 'summary') return [[name, own]]
  const bound = type === 'histogram' ? 'le' : 'quantile'
  const bucket = { ...own, labels: [...own.labels, bound] }
  return [
    [type === 'histogram' ? `${name}_bucket` : name, bucket],
    [`${name}_sum`, own],
    [`${name}_count`, own],
  ]
}
