import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { SERVICES } from '@restante/contracts/vocabulary'
import { listenerOf, root, type Settings } from '@restante/local/settings.ts'
import { waitFor } from '@restante/testkit'

/** The configuration for operators, unchanged (deploy/haproxy). */
const OPERATORS_FILES = ['defaults.cfg', 'gateway.cfg'].map((name) => path.join(root, 'deploy/haproxy', name))

export interface BalancerOptions {
  /** Ports that clients of the services use. */
  readonly front: Settings
  /** Where their processes listen, one entry per replica. */
  readonly back: readonly Settings[]
  readonly folder: string
}

/**
 * HAProxy in front of two processes of each service, configured by the files for operators: new connections go to
 * processes whose `/readyz` is 200.
 */
export class Balancer {
  readonly #options: BalancerOptions
  #child: ChildProcess | undefined

  constructor(options: BalancerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { folder, front } = this.#options
    const file = path.join(folder, 'haproxy.cfg')
    await writeFile(file, this.#otherServices())
    const log = openSync(path.join(folder, 'haproxy.log'), 'a')
    const files = [...OPERATORS_FILES, file].flatMap((each) => ['-f', each])
    this.#child = spawn('haproxy', ['-db', ...files], {
      stdio: ['ignore', log, log],
      env: { PATH: process.env['PATH'], ...this.#gateways() },
    })
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

  /** The environment of the operators' configuration. */
  #gateways(): Record<string, string> {
    const { front, back } = this.#options
    const address = (settings: Settings) => `127.0.0.1:${settings.port(listenerOf('gateway'))}`
    const [first, second, ...more] = back
    if (first === undefined || second === undefined || more.length > 0)
      throw new Error('expected two processes of each service')
    return { GATEWAY_BIND: address(front), GATEWAY_1: address(first), GATEWAY_2: address(second) }
  }

  /** Sections of the same form for the services behind the gateway, and for SMTP. */
  #otherServices(): string {
    const { front, back } = this.#options
    const http = SERVICES.filter((name) => name !== 'gateway').map((name) => {
      const port = (settings: Settings) => settings.port(listenerOf(name))
      const servers = back.map((own, replica) => `  server replica-${replica} 127.0.0.1:${port(own)} check`)
      return [`listen ${name}`, `  bind 127.0.0.1:${port(front)}`, ...servers].join('\n')
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
    return `${[...http, smtp].join('\n\n')}\n`
  }
}
