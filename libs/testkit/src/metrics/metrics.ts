/** One series of `/metrics`: a name, its labels, its value. */
export interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const SERIES = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const TYPE = /^# TYPE (\S+) (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g
const ESCAPES: Readonly<Record<string, string>> = { n: '\n' }

/** Metrics as a process answers them, in Prometheus' text format. */
export class Metrics {
  readonly series: readonly Series[]
  /** Names that series have or will have: those of metrics without a series yet are included. */
  readonly names: ReadonlySet<string>

  constructor(text: string) {
    const lines = text.split('\n')
    this.series = lines.flatMap(seriesOf)
    this.names = new Set([...lines.flatMap(namesIn), ...this.series.map(({ name }) => name)])
  }

  /** Reads `/metrics`. */
  static async read(url: string): Promise<Metrics> {
    const response = await fetch(url)
    if (!response.ok) throw new Error(`${url} answered ${response.status}`)
    return new Metrics(await response.text())
  }

  /** The sum of the series with this name and at least these labels; undefined when there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const found = this.series.filter(
      (each) => each.name === name && Object.entries(labels).every(([label, value]) => each.labels[label] === value),
    )
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
  }
}

function namesIn(line: string): string[] {
  const [, name, type] = TYPE.exec(line) ?? []
  if (name === undefined) return []
  if (type !== 'histogram' && type !== 'summary') return [name]
  return [type === 'histogram' ? `${name}_bucket` : name, `${name}_sum`, `${name}_count`]
}

function seriesOf(line: string): Series[] {
  const [, name, labels = '', value] = SERIES.exec(line) ?? []
  if (name === undefined || value === undefined) return []
  const pairs = Array.from(labels.matchAll(LABEL), ([, label = '', text = '']) => [label, unescaped(text)] as const)
  return [{ name, labels: Object.fromEntries(pairs), value: Number(value.replace('+Inf', 'Infinity')) }]
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character)
}
