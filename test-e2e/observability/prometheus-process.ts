import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort, waitFor } from '@restante/testkit'

/** A real Prometheus (Debian: `prometheus`) that has started and answers. */
export interface PrometheusProcess {
  readonly url: string
  stop(): Promise<void>
}

/** Where `/metrics` of a service is served: its host and port. */
interface Scraped {
  readonly service: string
  readonly host: string
}

interface Settings {
  /** Further top-level settings, as in prometheus.yml. */
  readonly configuration: Readonly<Record<string, unknown>>
  /** The label that the chart gives to targets, as it does `job` and `service`. */
  readonly namespace: string
  readonly scraped: readonly Scraped[]
}

/** @param folder for its configuration and its data. */
export async function startPrometheus(
  folder: string,
  { configuration, namespace, scraped }: Settings,
): Promise<PrometheusProcess> {
  const targets = scraped.map(({ service, host }) => ({ targets: [host], labels: { namespace, service } }))
  const file = path.join(folder, 'prometheus.yml')
  // JSON is YAML.
  const whole = { ...configuration, scrape_configs: [{ job_name: 'restante', static_configs: targets }] }
  await writeFile(file, JSON.stringify(whole))
  const port = await freePort()
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${path.join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  )
  const url = `http://127.0.0.1:${port}`
  await waitFor(async () => (await fetch(`${url}/-/ready`)).ok, { what: 'Prometheus' })
  return {
    url,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}
