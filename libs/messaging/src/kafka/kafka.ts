import { type EngineTrust, explained } from '@restante/service/engines'
import type { Logger } from '@restante/service/telemetry'
import kafkajs, { type Admin, type Consumer, type ConsumerConfig, type Producer } from 'kafkajs'
import { type Credentials, saslOptions } from './access/sasl.ts'
import { kafkaLogCreator } from './kafka-log.ts'

export interface KafkaOptions {
  readonly brokers: readonly string[]
  /** The name that brokers show for this process: the service's name. */
  readonly clientId: string
  readonly ssl?: boolean | undefined
  /** The authorities that the brokers' certificates are accepted from. Default: the public ones. */
  readonly trust?: EngineTrust | undefined
  readonly sasl?: Credentials | undefined
  /** Replicas that topics must have, and how many of them must hold a record before it counts as written. */
  readonly replication: number
  readonly minInsyncReplicas: number
  /** Prefix of every topic and group name, so that several installations or test suites can share one cluster. */
  readonly topicPrefix?: string | undefined
  readonly log: Logger
}

/** How a cluster keeps records: one replica on a developer's machine, three where mail must survive a broker. */
export interface Durability {
  readonly replication: number
  readonly minInsyncReplicas: number
}

/** Timeout for Kafka's response to one request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 15_000
/**
 * Retries of the client itself: for some seconds, and never more than two apart. Longer outages are handled by the
 * callers, which know what else to do; each retries soon after the brokers are back.
 */
const RETRY = { retries: 5, initialRetryTime: 100, maxRetryTime: 2_000 }

/**
 * Of a partition in one fetch. Records are compressed, and all that are fetched are in memory at once: those of a backlog
 * of equal texts take a hundred times as much.
 */
export const FETCH_BYTES = 256 * 1024

/**
 * The connection settings that producers, consumers and the admin tools of one process share. It holds no socket
 * itself: each of them opens and closes its own.
 */
export class Kafka {
  readonly log: Logger
  readonly durability: Durability
  /** The name that brokers show for this process. */
  readonly clientId: string
  readonly #client: kafkajs.Kafka
  readonly #prefix: string
  readonly #tls: boolean

  constructor(options: KafkaOptions) {
    this.log = options.log
    this.durability = { replication: options.replication, minInsyncReplicas: options.minInsyncReplicas }
    this.clientId = options.clientId
    this.#prefix = options.topicPrefix ?? ''
    const { trust, ssl = false, sasl } = options
    this.#tls = ssl
    this.#client = new kafkajs.Kafka({
      brokers: [...options.brokers],
      clientId: options.clientId,
      ssl: ssl && trust !== undefined ? { secureContext: trust.secureContext } : ssl,
      ...(sasl && { sasl: saslOptions(sasl, trust) }),
      connectionTimeout: 5_000,
      requestTimeout: REQUEST_TIMEOUT_MS,
      retry: RETRY,
      logLevel: kafkajs.logLevel.INFO,
      logCreator: kafkaLogCreator(options.log),
    })
  }

  /** The name that a topic or consumer group has on the brokers. */
  physical(name: string): string {
    return this.#prefix + name
  }

  /** The inverse of `physical`; `undefined` when the name belongs to another installation. */
  logical(name: string): string | undefined {
    return name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : undefined
  }

  /** A producer that keeps order and does not duplicate on its own retries: idempotent, one request in flight. */
  producer(): Producer {
    const producer = this.#client.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      retry: { ...RETRY, retries: 3, maxRetryTime: 1_000 },
    })
    return { ...producer, connect: () => this.#explained(producer.connect()) }
  }

  consumer(options: ConsumerConfig): Consumer {
    const limits = { allowAutoTopicCreation: false, maxBytesPerPartition: FETCH_BYTES }
    const consumer = this.#client.consumer({ ...limits, ...options })
    return { ...consumer, connect: () => this.#explained(consumer.connect()) }
  }

  /** Connects an admin client for the duration of `work`. */
  async administrate<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = this.#client.admin({ retry: RETRY })
    try {
      await this.#explained(admin.connect())
      return await work(admin)
    } finally {
      await admin.disconnect()
    }
  }

  #explained<T>(connection: Promise<T>): Promise<T> {
    return connection.catch((error: unknown) => {
      throw explained('Kafka', this.#tls, error)
    })
  }
}
