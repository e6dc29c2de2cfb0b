/** One query of a panel, with the name of its series. */
export interface Query {
  readonly expr: string
  /** Labels in double braces, as Grafana fills them in. */
  readonly legend: string
}

interface Choice {
  /** Labels that the result keeps. */
  readonly by?: string
  /** Further matchers of labels, as in PromQL. */
  readonly labels?: string
}

/** The series of a metric in the chosen namespaces. */
export function series(metric: string, labels = ''): string {
  return `${metric}{namespace=~"$namespace"${labels === '' ? '' : `,${labels}`}}`
}

/** A metric of Node or of the process, which programs of others export as well. */
export function ofProcesses(metric: string, labels = ''): string {
  return series(metric, `job="restante"${labels === '' ? '' : `,${labels}`}`)
}

/** The rate of a counter, added up over processes. */
export function perSecond(metric: string, { by, labels = '' }: Choice = {}): string {
  return `sum${grouped(by)} (rate(${series(metric, labels)}[$__rate_interval]))`
}

/** What a counter has grown by within an hour: for what is rare. */
export function inAnHour(metric: string, { by, labels = '' }: Choice = {}): string {
  return `sum${grouped(by)} (increase(${series(metric, labels)}[1h]))`
}

/** A part of a whole; nothing while there is no whole. */
export function share(part: string, whole: string): string {
  return `${part} / (${whole} > 0)`
}

/** The time within which a share of what a histogram measures is done. */
export function quantile(share: number, histogram: string, { by, labels = '' }: Choice = {}): string {
  const buckets = `rate(${series(`${histogram}_bucket`, labels)}[$__rate_interval])`
  return `histogram_quantile(${share}, sum by (${by === undefined ? 'le' : `le, ${by}`}) (${buckets}))`
}

/** Several of these times, each a line. */
export function quantiles(shares: readonly number[], histogram: string): Query[] {
  return shares.map((share) => ({ expr: quantile(share, histogram), legend: `${share * 100} %` }))
}

/** The largest value of a gauge: every process reports the same queue, or only one of them has work. */
export function largest(metric: string, { by, labels = '' }: Choice = {}): string {
  return `max${grouped(by)} (${series(metric, labels)})`
}

/** The sum of a gauge of which each process has its own part. */
export function total(metric: string, { by, labels = '' }: Choice = {}): string {
  return `sum${grouped(by)} (${series(metric, labels)})`
}

function grouped(by: string | undefined): string {
  return by === undefined ? '' : ` by (${by})`
}
