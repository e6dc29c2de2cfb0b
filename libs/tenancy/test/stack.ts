import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { type EventOf, type Topic, topics } from '@restante/contracts/events'
import { ensureTopics, Kafka } from '@restante/messaging'
import { recordOf } from '@restante/messaging/testing'
import { Database, migrate, sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import { PATIENCE_MS } from '@restante/service/testing'
import { Tenancy, type TenancyOptions } from '../src/index.ts'

const ADMIN_URL = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'
const BROKERS = (process.env['KAFKA_BROKERS'] ?? '127.0.0.1:19092').split(',')

export type TenancyEvent = EventOf<Topic<'tenancy'>>

function openDatabase(url: string): Database {
  return new Database({ url, applicationName: 'tenancy-test' })
}

/** A database with the library's table and a topic prefix of its own, for one suite, on the running engines. */
export class Stack {
  readonly log = createLogger({ service: 'tenancy-test', level: 'silent' })
  readonly #name = `test_tenancy_${randomUUID().slice(0, 8)}`
  readonly #prefix = `test-${randomUUID().slice(0, 8)}-`
  readonly #url = ADMIN_URL.replace(/\/[^/]*$/, `/${this.#name}`)
  readonly #admin = openDatabase(ADMIN_URL)
  readonly db = openDatabase(this.#url)
  readonly kafka = new Kafka({
    brokers: BROKERS,
    clientId: 'tenancy-test',
    replication: 1,
    minInsyncReplicas: 1,
    topicPrefix: this.#prefix,
    log: this.log,
  })

  async start(): Promise<void> {
    await this.#admin.query(sql(`create database ${this.#name}`))
    await migrate({ url: this.#url, folder: path.resolve(import.meta.dirname, '..') })
    // The data of the tested service: any number of rows of a scope.
    await this.db.query(sql('create table things (scope uuid not null)'))
    await ensureTopics(this.kafka, [topics.tenancy])
  }

  /** The tested component of a service. Suites that do not start it deliver events to its consumer directly. */
  tenancy(options: Pick<TenancyOptions, 'purge'> & Partial<TenancyOptions>): Tenancy {
    return new Tenancy({ service: 'mail-send', kafka: this.kafka, db: this.db, log: this.log, ...options })
  }

  /** Publishes an event as the relay of the gateway would. */
  async publish(event: TenancyEvent): Promise<void> {
    const producer = this.kafka.producer()
    await producer.connect()
    await producer.send({ topic: this.kafka.physical(topics.tenancy.name), messages: [recordOf(event)] })
    await producer.disconnect()
  }

  async stop(): Promise<void> {
    await this.kafka.administrate(async (admin) => {
      const own = (await admin.listTopics()).filter((topic) => topic.startsWith(this.#prefix))
      await admin.deleteTopics({ topics: own })
    })
    await this.db.stop()
    await this.#admin.query(sql(`drop database ${this.#name} with (force)`))
    await this.#admin.stop()
  }
}

/** A deleted inbox as the gateway describes it. */
export function deletedInbox(organization_id: string = randomUUID()) {
  const [pod_id, inbox_uid] = [randomUUID(), randomUUID()]
  return {
    organization_id,
    pod_id,
    inbox_uid,
    address: `${inbox_uid}@restante.test`,
    deleted_at: new Date().toISOString(),
  }
}

export function inboxDeleted(inbox: ReturnType<typeof deletedInbox>): TenancyEvent {
  return topics.tenancy.event('inbox.deleted', { ...inbox, version: 2 }, { time: new Date() })
}

export function podDeleted(organization_id: string, pod_id: string): TenancyEvent {
  const deleted_at = new Date().toISOString()
  return topics.tenancy.event('pod.deleted', { organization_id, pod_id, version: 2, deleted_at }, { time: new Date() })
}

export function organizationDeleted(organization_id: string): TenancyEvent {
  const deleted_at = new Date().toISOString()
  return topics.tenancy.event('organization.deleted', { organization_id, version: 2, deleted_at }, { time: new Date() })
}

/** Checks `condition` every few milliseconds, and resolves to its first truthy result. */
export async function until<T>(condition: () => Promise<T> | T, limitMs = PATIENCE_MS): Promise<T> {
  const end = Date.now() + limitMs
  for (;;) {
    const value = await condition()
    if (value) return value
    if (Date.now() > end) throw new Error(`Waited ${limitMs} ms for ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
