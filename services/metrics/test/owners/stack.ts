import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { DomainEvent, TopicDefinition } from '@restante/contracts/events'
import { type InternalOperationId, type InternalResponseOf, internalOperations } from '@restante/contracts/internal'
import { Database } from '@restante/service/database'
import { serviceCommand } from '@restante/service/process'
import {
  createDatabase,
  createTopics,
  EventPublisher,
  engines,
  freePort,
  peerHeaders,
  type TestDatabase,
  type TestTopics,
  waitFor,
} from '@restante/testkit'

const ROOT = path.resolve(import.meta.dirname, '../..')
const PEER_KEY = 'key of a pair in the tests, 32 b'

/** A replica of the service, in a process of its own. */
export class Replica {
  readonly #process: ChildProcess
  readonly #url: string

  constructor(process: ChildProcess, url: string) {
    this.#process = process
    this.#url = url
  }

  async call<Id extends InternalOperationId>(operation: Id, body: unknown): Promise<InternalResponseOf<Id>> {
    const response = await fetch(`${this.#url}${internalOperations[operation].path}`, {
      method: 'POST',
      headers: peerHeaders('gateway', 'metrics', PEER_KEY, operation),
      body: JSON.stringify(body),
    })
    if (response.status !== 200) throw new Error(`${operation} was answered ${response.status}`)
    return (await response.json()) as InternalResponseOf<Id>
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.kill(signal)
    await ended
  }
}

/** Engines with topics and a database of metrics, for any number of replicas. */
export class MetricsStack {
  readonly db: Database
  readonly topics: TestTopics
  readonly #database: TestDatabase
  readonly #events: EventPublisher
  readonly #replicas: Replica[] = []

  static async create(): Promise<MetricsStack> {
    return new MetricsStack(await createDatabase(ROOT), await createTopics())
  }

  private constructor(database: TestDatabase, topics: TestTopics) {
    this.#database = database
    this.topics = topics
    this.db = new Database({ url: database.url, applicationName: 'test' })
    this.#events = new EventPublisher(topics.kafka)
  }

  /** @param owners where the owners of what is counted answer. */
  environment(port: number, owners = 'http://127.0.0.1:9'): Record<string, string> {
    return {
      PORT: String(port),
      HOST: '127.0.0.1',
      DATABASE_URL: this.#database.url,
      KAFKA_BROKERS: engines.kafkaBrokers.join(','),
      KAFKA_REPLICATION: '1',
      KAFKA_MIN_INSYNC_REPLICAS: '1',
      TOPIC_PREFIX: this.topics.prefix,
      PUBLIC_URL: 'http://public.test',
      DOCS_URL: 'http://docs.test',
      CALLER_KEY: 'caller key of the tests, 32 bytes',
      ...Object.fromEntries(
        ['GATEWAY', 'MAIL_INGEST', 'MAIL_SEND', 'DOMAINS_DNS'].flatMap((peer) => [
          [`${peer}_URL`, owners],
          [`PEER_KEY_${peer}`, PEER_KEY],
        ]),
      ),
    }
  }

  /** Starts a replica, and waits until it serves. */
  async replica(): Promise<Replica> {
    const [port, metricsPort] = [await freePort(), await freePort()]
    const [program, ...args] = serviceCommand(path.join(ROOT, 'src/main.ts'))
    const env = { ...process.env, ...this.environment(port), METRICS_PORT: String(metricsPort), LOG_LEVEL: 'error' }
    const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
    const replica = new Replica(child, `http://127.0.0.1:${port}`)
    this.#replicas.push(replica)
    const serves = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200
    await waitFor(serves, { what: 'the replica to be ready', timeout: 60_000 })
    return replica
  }

  async publish(happened: readonly { readonly topic: TopicDefinition; readonly event: DomainEvent }[]): Promise<void> {
    for (const [topic, of] of Map.groupBy(happened, (one) => one.topic))
      await this.#events.publish(topic, ...of.map(({ event }) => event))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.end('SIGTERM')))
    await Promise.all([this.#events.stop(), this.db.stop(), this.topics.delete()])
    await this.#database.drop()
  }
}
