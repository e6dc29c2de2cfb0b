import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { SERVICES } from '@restante/contracts'
import { listenerOf, type Settings } from '@restante/local/settings.ts'
import { waitFor } from '@restante/testkit'

export interface BalancerOptions {
  /** Where services are looked for. */
  readonly front: Settings
  /** Where their processes listen, one entry per replica. */
  readonly back: readonly Settings[]
  readonly folder: string
}

/** HAProxy in front of several processes of each service: new connections go to those whose `/readyz` is 200. */
export class Balancer {
  readonly #options: BalancerOptions
  #child: ChildProcess | undefined

  constructor(options: BalancerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { folder, front } = this.#options
    const file = path.join(folder, 'haproxy.cfg')
    await writeFile(file, this.#configuration())
    const log = openSync(path.join(folder, 'haproxy.log'), 'a')
    this.#child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', log, log] })
    closeSync(log)
    await Promise.all(
      SERVICES.map((name) =>
        waitFor(async () => (await fetch(`http://127.0.0.1:${front.port(listenerOf(name))}/readyz`)).ok, {
          what: `${name} behind the balancer (${file})`,
          timeout: 60_000,
          interval: 100,
        }),
      ),
    )
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null) return
    child.kill('SIGTERM')
    await waitFor(() => child.exitCode !== null || child.signalCode !== null, { what: 'HAProxy to end' })
  }

  #configuration(): string {
    const { front, back } = this.#options
    const http = SERVICES.map((name) => {
      const port = (settings: Settings) => settings.port(listenerOf(name))
      const servers = back.map((own, replica) => `  server replica-${replica} 127.0.0.1:${port(own)} check`)
      return [`listen ${name}`, `  bind 127.0.0.1:${port(front)}`, '  mode http', ...servers].join('\n')
    })
    const smtp = [
      'listen smtp',
      `  bind 127.0.0.1:${front.port('smtp')}`,
      '  mode tcp',
      ...back.map(
        (own, replica) =>
          `  server replica-${replica} 127.0.0.1:${own.port('smtp')} check port ${own.port(listenerOf('mail-ingest'))}`,
      ),
    ].join('\n')
    return `${[SETTINGS, ...http, smtp].join('\n\n')}\n`
  }
}

/** As an operator would have it: a process that says it is not ready gets no new connection within half a second. */
const SETTINGS = `global
  maxconn 4000

defaults
  timeout connect 2s
  timeout client 2m
  timeout server 2m
  timeout tunnel 1h
  timeout check 5s
  balance leastconn
  option httpchk GET /readyz
  option redispatch 1
  retries 3
  default-server inter 250ms fall 1 rise 1`
