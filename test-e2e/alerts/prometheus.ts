import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { SERVICES } from '@restante/contracts/vocabulary'
import { root } from '@restante/local/settings.ts'
import { waitFor } from '@restante/testkit'
import { z } from 'zod'
import { type PrometheusProcess, startPrometheus } from '../observability/prometheus-process.ts'
import type { System } from '../stack/system.ts'

const RULES = path.join(root, 'deploy/observability/alerts')
/** A process whose engines are gone needs up to two seconds to report its readiness. */
const SCRAPE = '5s'

const firing = z.object({
  labels: z.looseObject({ alertname: z.string(), service: z.string().optional() }),
  annotations: z.object({ summary: z.string(), description: z.string() }),
  state: z.enum(['pending', 'firing']),
})
const alertsAnswer = z.object({ status: z.literal('success'), data: z.object({ alerts: z.array(firing) }) })
const seriesAnswer = z.object({ status: z.literal('success'), data: z.array(z.record(z.string(), z.string())) })
const queryAnswer = z.object({ status: z.literal('success'), data: z.object({ result: z.array(z.unknown()) }) })

export type FiringAlert = z.infer<typeof firing>

/**
 * Prometheus with the alert rules of the repository. An alert fires after as many seconds as the rules have minutes (`for`); all
 * else is as in production.
 */
export class Prometheus {
  readonly #process: PrometheusProcess

  private constructor(process: PrometheusProcess) {
    this.#process = process
  }

  /** Scrapes every process of a system that serves metrics. Resolves when it answers. */
  static async start(system: System, folder: string): Promise<Prometheus> {
    const rules = path.join(folder, 'rules')
    await mkdir(rules, { recursive: true })
    for (const file of await readdir(RULES)) {
      const text = await readFile(path.join(RULES, file), 'utf8')
      await writeFile(path.join(rules, file), text.replaceAll(/^( +for: \d+)m$/gm, '$1s'))
    }
    const scraped = SERVICES.map((service) => ({
      service,
      host: `127.0.0.1:${system.process(service).environment['METRICS_PORT']}`,
    }))
    const configuration = {
      global: { scrape_interval: SCRAPE, scrape_timeout: SCRAPE, evaluation_interval: '1s' },
      rule_files: [path.join(rules, '*.yaml')],
    }
    return new Prometheus(await startPrometheus(folder, { configuration, namespace: 'mail', scraped }))
  }

  /** The alerts that fire now. */
  async firing(): Promise<readonly FiringAlert[]> {
    const { data } = alertsAnswer.parse(await (await fetch(`${this.#process.url}/api/v1/alerts`)).json())
    return data.alerts.filter(({ state }) => state === 'firing')
  }

  /** The series that a selector has matched within the last hour, by their labels. */
  async series(selector: string): Promise<readonly Readonly<Record<string, string>>[]> {
    const query = new URLSearchParams({ 'match[]': selector, start: String(Date.now() / 1_000 - 3_600) })
    return seriesAnswer.parse(await (await fetch(`${this.#process.url}/api/v1/series?${query}`)).json()).data
  }

  /** Resolves when an expression has a result. */
  async holds(expression: string): Promise<void> {
    const query = new URLSearchParams({ query: expression })
    const results = async () => {
      const answer = queryAnswer.parse(await (await fetch(`${this.#process.url}/api/v1/query?${query}`)).json())
      return answer.data.result.length > 0
    }
    await waitFor(results, { what: expression, timeout: 60_000, interval: 500 })
  }

  /** Resolves to the alert as soon as it fires. */
  async fires(name: string, labels: Readonly<Record<string, string>> = {}): Promise<FiringAlert> {
    const wanted = ({ labels: has }: FiringAlert) =>
      has.alertname === name && Object.entries(labels).every(([label, value]) => has[label] === value)
    return waitFor(async () => (await this.firing()).find(wanted), {
      what: `${name} ${JSON.stringify(labels)} to fire`,
      timeout: 150_000,
      interval: 500,
    })
  }

  /** Resolves when the alert does not fire any more. */
  async ends(name: string): Promise<void> {
    await waitFor(async () => (await this.firing()).every(({ labels }) => labels.alertname !== name), {
      what: `${name} to end`,
      timeout: 150_000,
      interval: 500,
    })
  }

  async stop(): Promise<void> {
    await this.#process.stop()
  }
}
