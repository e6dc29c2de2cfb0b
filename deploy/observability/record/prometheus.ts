import { type PrometheusProcess, startPrometheus } from '@restante/test-e2e/observability/prometheus-process.ts'
import { z } from 'zod'

/** One series of an answer: its labels, and pairs of seconds since the epoch and values. */
export interface Line {
  readonly labels: Readonly<Record<string, string>>
  readonly points: readonly (readonly [seconds: number, value: number])[]
}

const answer = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        values: z.array(z.tuple([z.number(), z.string()])),
      }),
    ),
  }),
})

const STEP_SECONDS = 2

/** A Prometheus that scrapes the processes of a system. */
export class Prometheus {
  readonly #process: PrometheusProcess

  private constructor(process: PrometheusProcess) {
    this.#process = process
  }

  /** @param targets addresses of `/metrics`, by service. @param folder for its data. */
  static async start(targets: ReadonlyMap<string, string>, folder: string): Promise<Prometheus> {
    const scraped = [...targets].map(([service, url]) => ({ service, host: new URL(url).host }))
    const configuration = { global: { scrape_interval: `${STEP_SECONDS}s` } }
    return new Prometheus(await startPrometheus(folder, { configuration, namespace: 'restante', scraped }))
  }

  /** Values of a query between two times, in seconds since the epoch. */
  async range(query: string, begin: number, end: number): Promise<Line[]> {
    const parameters = new URLSearchParams({
      query,
      start: String(begin),
      end: String(end),
      step: String(STEP_SECONDS),
    })
    const response = await fetch(`${this.#process.url}/api/v1/query_range?${parameters}`)
    if (!response.ok) throw new Error(`Prometheus answered ${response.status} to ${query}: ${await response.text()}`)
    const { data } = answer.parse(await response.json())
    return data.result.map(({ metric, values }) => ({
      labels: metric,
      points: values.map(([seconds, value]) => [seconds, Number(value)] as const),
    }))
  }

  async stop(): Promise<void> {
    await this.#process.stop()
  }
}
