import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { DomainEvent, TopicDefinition } from '@restante/contracts/events'
import { Database, type DatabaseOptions, migrate, sql, sqlUnprepared } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import { PATIENCE_MS } from '@restante/service/testing'
import type { Message } from 'kafkajs'
import { z } from 'zod'
import { Consumer, type ConsumerOptions, ensureTopics, Kafka, Outbox, Relay } from '../src/index.ts'

export const BROKERS = (process.env['KAFKA_BROKERS'] ?? '127.0.0.1:19092').split(',')
const DATABASE_URL = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'
const SERVICE = 'mail-ingest'

/** A topic as contracts would declare it, with two types. */
export const letters = {
  name: 'letters',
  producer: SERVICE,
  key: 'box',
  partitions: 3,
  retentionMs: 3_600_000,
  summary: 'letters for tests',
  events: {
    'letter.posted': { schema: z.object({ text: z.string(), number: z.int() }), summary: 'a letter was posted' },
    'letter.read': { schema: z.object({ number: z.int() }), summary: 'a letter was read' },
  },
} as const satisfies TopicDefinition

export type Posted = DomainEvent<'letter.posted', { text: string; number: number }>

export function posted(box: string, number: number, text = `letter ${number}`): Posted {
  return {
    id: randomUUID(),
    type: 'letter.posted',
    subject: `${box}/${number}`,
    key: box,
    time: new Date(),
    routing: {
      organizationId: '00000000-0000-4000-8000-000000000001',
      inboxUid: '00000000-0000-4000-8000-000000000002',
    },
    payload: { text, number },
  }
}

export type LetterConsumer = Consumer<typeof letters>
export type LetterConsumerOptions = Extract<ConsumerOptions<typeof letters>, { handlers: object }>

/** The table that effects in these tests write to. */
const EFFECTS_TABLE = `create table effects (id bigserial primary key, key text not null, number int not null, text text not null default '')`

export const EFFECTS = sql<{ key: string; number: number; text: string }>(
  'select key, number, text from effects order by id',
)
export const ADD_EFFECT = sql<never, [key: string, number: number, text: string]>(
  'insert into effects (key, number, text) values ($1, $2, $3)',
)

/** Database, topic prefix and relay of one suite, on the running engines. */
export class MessagingFixture {
  readonly prefix = `test-${randomUUID().slice(0, 8)}-`
  readonly log = createLogger({ service: 'test', level: process.env['LOG_LEVEL'] ?? 'silent' })
  readonly kafka: Kafka
  readonly db: Database
  readonly outbox: Outbox
  readonly #name: string
  readonly #closers: (() => Promise<void>)[] = []

  private constructor(name: string) {
    this.#name = name
    this.kafka = this.connection('test')
    this.db = openDatabase(name)
    this.outbox = new Outbox({ db: this.db, service: SERVICE })
  }

  static async open(topics: readonly TopicDefinition[] = [letters]): Promise<MessagingFixture> {
    const name = `messaging_${randomUUID().slice(0, 8)}`
    await administer(`create database ${name}`)
    const fixture = new MessagingFixture(name)
    await migrate({ url: fixture.databaseUrl, folder: path.resolve(import.meta.dirname, '..') })
    await fixture.db.query(sqlUnprepared(EFFECTS_TABLE))
    await ensureTopics(fixture.kafka, topics)
    return fixture
  }

  get databaseUrl(): string {
    return urlOf(this.#name)
  }

  connection(clientId: string): Kafka {
    return new Kafka({
      brokers: BROKERS,
      clientId,
      replication: 1,
      minInsyncReplicas: 1,
      topicPrefix: this.prefix,
      log: this.log,
    })
  }

  /** A pool of another process. */
  database(timeouts?: DatabaseOptions['timeouts']): Database {
    const db = openDatabase(this.#name, timeouts)
    this.onClose(() => db.stop())
    return db
  }

  async relay(db: Database = this.db, outbox: Outbox = this.outbox): Promise<Relay> {
    const relay = new Relay({ kafka: this.kafka, db, outbox, standbyMs: 50 })
    await this.started(relay)
    return relay
  }

  /** Starts a component, waits until it is ready, and stops it with the fixture. */
  async started<P extends { start(): Promise<void>; working(): Promise<void>; stop(): Promise<void> }>(
    part: P,
  ): Promise<P> {
    await part.start()
    this.onClose(() => part.stop())
    await until(() =>
      part.working().then(
        () => true,
        () => false,
      ),
    )
    return part
  }

  onClose(close: () => Promise<void>): void {
    this.#closers.unshift(close)
  }

  post(...events: Posted[]): Promise<void> {
    return this.db.transaction((tx) => this.outbox.addAll(tx, letters, events))
  }

  /** A consumer of `letters` as its service would run it, with short sessions; joined when this resolves. */
  async consumer(
    options: Partial<LetterConsumerOptions> & Pick<LetterConsumerOptions, 'handlers'>,
  ): Promise<LetterConsumer> {
    return this.started(this.letterConsumer(options))
  }

  letterConsumer(options: Partial<LetterConsumerOptions> & Pick<LetterConsumerOptions, 'handlers'>): LetterConsumer {
    return new Consumer({
      kafka: this.connection('consumer'),
      db: this.db,
      service: SERVICE,
      topic: letters,
      sessionTimeoutMs: 6_000,
      heartbeatMs: 200,
      infrastructureBackoff: { firstMs: 40, longestMs: 100 },
      ...options,
    })
  }

  /** Writes records to a topic bypassing the outbox: what a defective or hostile producer would do. */
  async produce(topic: string, messages: Message[]): Promise<void> {
    const producer = this.kafka.producer()
    await producer.connect()
    await producer.send({ topic: this.kafka.physical(topic), messages })
    await producer.disconnect()
  }

  /** How many records a topic holds, over all partitions. */
  async count(topic: string): Promise<number> {
    const offsets = await this.kafka.administrate((admin) => admin.fetchTopicOffsets(this.kafka.physical(topic)))
    return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0)
  }

  async committed(group: string, topic: string): Promise<Map<number, number>> {
    const [found] = await this.kafka.administrate((admin) =>
      admin.fetchOffsets({
        groupId: this.kafka.physical(group),
        topics: [this.kafka.physical(topic)],
      }),
    )
    return new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]))
  }

  effects(): Promise<{ key: string; number: number; text: string }[]> {
    return this.db.query(EFFECTS)
  }

  async close(): Promise<void> {
    for (const close of this.#closers) await close()
    await this.kafka.administrate(async (admin) => {
      const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(this.prefix))
      await admin.deleteTopics({ topics })
    })
    await this.db.stop()
    await administer(`drop database if exists ${this.#name} with (force)`)
  }
}

/** Waits until a probe answers anything but `false`, and returns the answer; fails after `ms`. */
export async function until<T>(probe: () => T | false | Promise<T | false>, ms = PATIENCE_MS): Promise<T> {
  const deadline = Date.now() + ms
  for (;;) {
    const value = await probe()
    if (value !== false) return value
    if (Date.now() > deadline) throw new Error('the condition was not met in time')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function urlOf(database: string): string {
  const url = new URL(DATABASE_URL)
  url.pathname = `/${database}`
  return url.href
}

export function openDatabase(nameOrUrl: string, timeouts?: DatabaseOptions['timeouts']): Database {
  const url = nameOrUrl.includes('://') ? nameOrUrl : urlOf(nameOrUrl)
  return new Database({ url, applicationName: 'messaging-test', timeouts })
}

async function administer(statement: string): Promise<void> {
  const server = openDatabase(DATABASE_URL)
  const client = await server.direct()
  await client.query(statement)
  await client.end()
  await server.stop()
}
