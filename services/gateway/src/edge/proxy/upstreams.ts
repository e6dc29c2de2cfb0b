import type { ServiceName, UpstreamName } from '@restante/contracts/vocabulary'
import { TokenMint } from '@restante/service/identity'
import type { Component } from '@restante/service/process'
import { Pool } from 'undici'

export interface UpstreamAddress {
  /** Base URL: `http://mail-ingest:3001`. */
  readonly url: string
  /** Key of the caller tokens for this service; only it and the gateway know it. */
  readonly callerKey: string
}

/** One service behind the gateway: its connections, and the signing key of its tokens. */
export interface Upstream {
  readonly name: UpstreamName
  readonly url: URL
  readonly pool: Pool
  readonly mint: TokenMint
  /** How long it may take to begin a response, in milliseconds. */
  readonly timeoutMs: number
}

export interface UpstreamsOptions {
  readonly addresses: ReadonlyMap<UpstreamName, UpstreamAddress>
  /** Connections to each service. */
  readonly connections: number
  /** How long a service may take to begin its response, in milliseconds. */
  readonly timeoutMs: number
  /** Whether this process is ready only when the services are, for a stack that starts as a whole. */
  readonly readiness: boolean
}

const CONNECT_TIMEOUT_MS = 2_000
/** Below the 65 s after which services close idle connections, so that none is closed under a request. */
const KEEP_ALIVE_MS = 30_000
/** Longest silence within a response. */
const BODY_TIMEOUT_MS = 60_000
const READY_TIMEOUT_MS = 2_000

/** The services behind the gateway. */
export class Upstreams implements Component {
  readonly name = 'services behind the gateway'
  readonly #upstreams: ReadonlyMap<ServiceName, Upstream>
  readonly #readiness: boolean

  constructor(options: UpstreamsOptions) {
    this.#readiness = options.readiness
    const open = (name: UpstreamName, { url, callerKey }: UpstreamAddress): Upstream => {
      const pool = new Pool(new URL(url).origin, {
        connections: options.connections,
        connect: { timeout: CONNECT_TIMEOUT_MS },
        keepAliveTimeout: KEEP_ALIVE_MS,
        headersTimeout: options.timeoutMs,
        bodyTimeout: BODY_TIMEOUT_MS,
      })
      return { name, url: new URL(url), pool, mint: new TokenMint(name, callerKey), timeoutMs: options.timeoutMs }
    }
    this.#upstreams = new Map([...options.addresses].map(([name, address]) => [name, open(name, address)]))
  }

  of(service: ServiceName): Upstream {
    const upstream = this.#upstreams.get(service)
    if (upstream === undefined) throw new TypeError(`${service} is not behind the gateway`)
    return upstream
  }

  async ready(): Promise<void> {
    if (!this.#readiness) return
    const down = await Promise.all([...this.#upstreams.values()].map(notReady))
    const names = down.filter((name) => name !== undefined)
    if (names.length > 0) throw new Error(`not ready: ${names.join(', ')}`)
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#upstreams.values()].map(({ pool }) => pool.close()))
  }
}

async function notReady({ name, pool }: Upstream): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(READY_TIMEOUT_MS)
    const { statusCode, body } = await pool.request({ method: 'GET', path: '/readyz', signal })
    await body.dump()
    return statusCode === 200 ? undefined : name
  } catch {
    return name
  }
}
