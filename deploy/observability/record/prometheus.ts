import { type ChildProcess, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort, waitFor } from '@restante/testkit'
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

/** A real Prometheus (Debian: `prometheus`) that scrapes the processes of a system. */
export class Prometheus {
  readonly #process: ChildProcess
  readonly #url: string

  private constructor(process: ChildProcess, url: string) {
    this.#process = process
    this.#url = url
  }

  /** @param targets addresses of `/metrics`, by service. @param folder for its data. */
  static async start(targets: ReadonlyMap<string, string>, folder: string): Promise<Prometheus> {
    const scrapes = [...targets].map(([service, url]) => ({
      targets: [new URL(url).host],
      labels: { namespace: 'restante', service },
    }))
    const file = path.join(folder, 'prometheus.yml')
    const configuration = {
      global: { scrape_interval: `${STEP_SECONDS}s` },
      scrape_configs: [{ job_name: 'restante', static_configs: scrapes }],
    }
    // JSON is YAML.
    await writeFile(file, JSON.stringify(configuration))
    const port = await freePort()
    const child = spawn(
      'prometheus',
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${path.join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    )
    const prometheus = new Prometheus(child, `http://127.0.0.1:${port}`)
    await waitFor(async () => (await fetch(`${prometheus.#url}/-/ready`)).ok, { what: 'Prometheus to be ready' })
    return prometheus
  }

  /** Values of a query between two times, in seconds since the epoch. */
  async range(query: string, begin: number, end: number): Promise<Line[]> {
    const parameters = new URLSearchParams({
      query,
      start: String(begin),
      end: String(end),
      step: String(STEP_SECONDS),
    })
    const response = await fetch(`${this.#url}/api/v1/query_range?${parameters}`)
    if (!response.ok) throw new Error(`Prometheus answered ${response.status} to ${query}: ${await response.text()}`)
    const { data } = answer.parse(await response.json())
    return data.result.map(({ metric, values }) => ({
      labels: metric,
      points: values.map(([seconds, value]) => [seconds, Number(value)] as const),
    }))
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#process.kill('SIGTERM')
    await ended
  }
}
