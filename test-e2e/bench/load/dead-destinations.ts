import { createServer, type Server, type Socket } from 'node:net'
import pg from 'pg'
import type { Endpoints } from '../../stack/endpoints.ts'
import { peerDomain, peerHost } from '../../stack/names.ts'

/** Addresses 127.0.7.1 and on; the mail peers of a bench are elsewhere. */
const NETWORK = 7
/** What a delivery waits at most between two attempts, by default. */
const LONGEST_WAIT = '4 hours'

const FILL = `
with added as (
  insert into sends (id, message_id, size, sha256, accepted_at)
  select gen_random_uuid(), '<dead-' || n || '@bench.test>', 100, '', now() - random() * interval '1 day'
    from generate_series($1::int, $2::int) n
  returning id, accepted_at
), spread as (
  select id, accepted_at, ($3::text[])[1 + floor(random() * array_length($3::text[], 1))::int] as destination from added
), waiting as (
  insert into deliveries (id, send_id, recipient, destination, state, attempts, status, diagnostic, queued_at, updated_at)
  select gen_random_uuid(), id, 'human@' || destination, destination, 'deferred', 6, '4.4.1', 'No session', accepted_at, now()
    from spread
)
insert into timers (id, kind, key, due_at, attempt, payload)
select gen_random_uuid(), $4, id || '/' || destination, now() + random() * interval '${LONGEST_WAIT}', 6,
       jsonb_build_object('send_id', id, 'destination', destination)
  from spread`

const BATCH = 20_000

/**
 * Servers that accept connections and never greet, and deliveries that wait for them as after some hours of retries:
 * some are due every second.
 */
export class DeadDestinations {
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  readonly #endpoints: Endpoints
  readonly domains: readonly string[]

  constructor(endpoints: Endpoints, count: number) {
    this.#endpoints = endpoints
    this.domains = Array.from({ length: count }, (_, index) => peerDomain(NETWORK, index + 1))
  }

  async start(): Promise<this> {
    await Promise.all(this.domains.map((_, index) => this.#listen(peerHost(NETWORK, index + 1))))
    return this
  }

  /** Connections that wait for a greeting. */
  get connections(): number {
    return this.#sockets.size
  }

  /** @param kind that of the timers. */
  async fill(deliveries: number, kind: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#endpoints.databases['mail-send'] })
    await client.connect()
    try {
      for (let from = 1; from <= deliveries; from += BATCH) {
        await client.query(FILL, [from, Math.min(from + BATCH - 1, deliveries), this.domains, kind])
      }
      await client.query('vacuum analyze sends, deliveries, timers')
    } finally {
      await client.end()
    }
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }

  async #listen(host: string): Promise<void> {
    const server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
      socket.resume()
    })
    this.#servers.push(server)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.#endpoints.mxPort, host, resolve)
    })
  }
}
