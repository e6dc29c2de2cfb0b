import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { listenerOf, root, type Settings } from '@restante/local/settings.ts'
import { PATIENCE_MS, waitFor } from '@restante/testkit'
import { endWithThisProcess } from './children.ts'

/** The configuration for operators, unchanged (deploy/haproxy). */
const OPERATORS_FILES = ['defaults.cfg', 'gateway.cfg'].map((name) => path.join(root, 'deploy/haproxy', name))

export interface BalancerOptions {
  /** Ports that clients of the services use. */
  readonly front: Settings
  /** Where their processes listen, one entry per replica. */
  readonly back: readonly Settings[]
  /** The services that run from the start. Those that only a later release has need not answer yet. */
  readonly services: readonly ServiceName[]
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
    const { folder, front, services } = this.#options
    const file = path.join(folder, 'haproxy.cfg')
    await writeFile(file, `global\n  stats socket ${this.#socket}\n\n${this.#otherServices()}`)
    const log = openSync(path.join(folder, 'haproxy.log'), 'a')
    const files = [...OPERATORS_FILES, file].flatMap((each) => ['-f', each])
    const env = { PATH: process.env['PATH'], ...this.#gateways() }
    this.#child = endWithThisProcess(spawn('haproxy', ['-db', ...files], { stdio: ['ignore', log, log], env }))
    closeSync(log)
    await Promise.all(
      services.map((name) =>
        waitFor(async () => (await fetch(`http://127.0.0.1:${front.port(listenerOf(name))}/readyz`)).ok, {
          what: `${name} behind the balancer (${file})`,
          timeout: 2 * PATIENCE_MS,
          interval: 100,
        }),
      ),
    )
  }

  /** Resolves when new connections go to a process as well. */
  async routed(name: ServiceName, replica: number): Promise<void> {
    const server = name === 'gateway' ? `gateway-${replica + 1}` : `replica-${replica}`
    await waitFor(async () => (await this.#statistics()).some((line) => isUp(line, name, server)), {
      what: `${server} of ${name} to be up behind the balancer`,
      interval: 50,
    })
  }

  get #socket(): string {
    return path.join(this.#options.folder, 'haproxy.sock')
  }

  /** The lines of `show stat`, one per server. */
  async #statistics(): Promise<string[]> {
    const socket = connect(this.#socket)
    socket.end('show stat\n')
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    return Buffer.concat(chunks).toString().split('\n')
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

  /** Sections of the same form for the services behind the gateway, for SMTP and for sign-in. */
  #otherServices(): string {
    const { front, back } = this.#options
    const http = SERVICES.filter((name) => name !== 'gateway').map((name) => {
      const port = (settings: Settings) => settings.port(listenerOf(name))
      const servers = back.map((own, replica) => `  server replica-${replica} 127.0.0.1:${port(own)} check`)
      return [`listen ${name}`, `  bind 127.0.0.1:${port(front)}`, ...servers].join('\n')
    })
    return `${[...http, this.#plain('smtp', 'mail-ingest'), this.#plain('sign-in', 'apps-signin')].join('\n\n')}\n`
  }

  /** A second listener of a service, which its own port says the readiness of. */
  #plain(listener: 'smtp' | 'sign-in', service: ServiceName): string {
    const { front, back } = this.#options
    const servers = back.map(
      (own, replica) =>
        `  server replica-${replica} 127.0.0.1:${own.port(listener)} check port ${own.port(listenerOf(service))}`,
    )
    return [`listen ${listener}`, `  bind 127.0.0.1:${front.port(listener)}`, '  mode tcp', ...servers].join('\n')
  }
}

/** `<proxy>,<server>,...,UP,...` is a line about a server that passes its checks. */
function isUp(line: string, proxy: string, server: string): boolean {
  return line.startsWith(`${proxy},${server},`) && line.split(',').includes('UP')
}
