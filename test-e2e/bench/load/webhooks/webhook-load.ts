import { topics } from '@restante/contracts/events'
import { EventPublisher, type InboxScope, receivedEvent, testKafka, waitFor } from '@restante/testkit'
import pg from 'pg'
import { z } from 'zod'
import type { Endpoints } from '../../../stack/endpoints.ts'
import type { Tenant } from '../../../support/tenants.ts'
import { Program } from '../../programs/program.ts'

const CHUNK = 500
const arrivals = z.object({ arrived: z.array(z.tuple([z.string(), z.number()])) })

type ReceivedEvent = ReturnType<typeof receivedEvent>

/** Publishes events of received mail for inboxes that have webhooks, and sees when their receiver gets them. */
export class WebhookLoad {
  readonly #tenant: Tenant
  readonly #database: pg.Client
  readonly #gateway: pg.Client
  readonly #publisher: EventPublisher
  readonly #sink: Program
  readonly url: string
  /** When each event arrived first, in Unix milliseconds. */
  readonly arrivals = new Map<string, number>()

  private constructor(endpoints: Endpoints, tenant: Tenant, sink: Program, url: string) {
    this.#tenant = tenant
    this.#database = new pg.Client({ connectionString: endpoints.databases['webhooks-dispatcher'] })
    this.#gateway = new pg.Client({ connectionString: endpoints.databases.gateway })
    this.#publisher = new EventPublisher(testKafka(endpoints.topicPrefix))
    this.#sink = sink
    this.url = url
  }

  static async open(endpoints: Endpoints, tenant: Tenant): Promise<WebhookLoad> {
    const sink = Program.start('webhook-sink', {})
    const { url } = await sink.next(z.object({ url: z.url() }))
    const load = new WebhookLoad(endpoints, tenant, sink, url)
    await Promise.all([load.#database.connect(), load.#gateway.connect()])
    return load
  }

  async stop(): Promise<void> {
    await Promise.all([this.#database.end(), this.#gateway.end(), this.#publisher.stop(), this.#sink.stop()])
  }

  /** Creates a webhook for one inbox. @returns the inbox, for events. */
  async subscribe(inboxId: string, path: '/ok' | '/500' | '/slow'): Promise<InboxScope> {
    const request = { url: this.url + path, eventTypes: ['message.received' as const], inboxIds: [inboxId] }
    await this.#tenant.client.webhooks.create(request)
    const { rows } = await this.#gateway.query('select uid, pod_id from inboxes where address = $1', [inboxId])
    const { uid, pod_id } = z.object({ uid: z.string(), pod_id: z.string() }).parse(rows[0])
    return { organizationId: this.#tenant.id, podId: pod_id, inboxUid: uid, address: inboxId }
  }

  /** Publishes events as fast as Kafka takes them. @returns when each was published. */
  async publish(events: readonly ReceivedEvent[]): Promise<Map<string, number>> {
    const times = new Map<string, number>()
    for (let at = 0; at < events.length; at += CHUNK) {
      const chunk = events.slice(at, at + CHUNK)
      for (const { id } of chunk) times.set(id, Date.now())
      await this.#publisher.publish(topics['mail.messages'], ...chunk)
    }
    return times
  }

  /** Waits until `/ok` has got events. @throws Error when it takes longer than five minutes. */
  async received(ids: Iterable<string>): Promise<void> {
    const missing = new Set(ids)
    await waitFor(
      async () => {
        this.#sink.resume()
        const { arrived } = await this.#sink.next(arrivals)
        for (const [id, at] of arrived) if (!this.arrivals.has(id)) this.arrivals.set(id, at)
        for (const id of missing) if (this.arrivals.has(id)) missing.delete(id)
        return missing.size === 0
      },
      { what: `${missing.size} events at the receiver`, timeout: 300_000, interval: 200 },
    )
  }

  /** How many deliveries the log has recorded as acknowledged. */
  async logged(): Promise<number> {
    const { rows } = await this.#database.query(
      `select count(*)::int as count from delivery_log where state = 'delivered'`,
    )
    return z.object({ count: z.int() }).parse(rows[0]).count
  }
}

/** Events of a usual length, spread over inboxes. */
export function eventsFor(scopes: readonly InboxScope[], count: number): ReceivedEvent[] {
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(40)
  return Array.from({ length: count }, (_, at) => {
    const scope = scopes[at % scopes.length]
    if (!scope) throw new Error('there is no inbox')
    return receivedEvent(scope, { text })
  })
}
