import { type TopicDefinition, topics } from '@restante/contracts/events'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { DeadLetterBacklog, Kafka, MarkSweeper, Outbox, Relay, TopicsCheck } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { Component, Service } from '@restante/service/process'
import type { Configuration, ServiceConfiguration } from './configuration/configuration.ts'
import { Frame, type FrameOptions } from './frame.ts'

export interface KitOptions<N extends ServiceName, P extends ServiceName, D extends Database>
  extends FrameOptions<N, P> {
  readonly config: ServiceConfiguration<P>
  readonly db: D
}

/** A component that consumes topics: a consumer or a projection. */
interface TopicReader {
  readonly topics: readonly TopicDefinition[]
  /** Its consumer group. */
  readonly group: string
}

/**
 * The parts that services have in common which store and publish, each created at its first use: the frame, the database,
 * Kafka.
 */
export class Kit<N extends ServiceName, P extends ServiceName, D extends Database = Database> extends Frame<N, P> {
  readonly db: D
  /** Connection settings; each consumer and the relay open sockets of their own. */
  readonly kafka: Kafka
  readonly #consumed = new Set<TopicDefinition>()
  readonly #groups: string[] = []
  #outbox: Outbox | undefined

  constructor({ db, ...options }: KitOptions<N, P, D>) {
    super(options)
    const { name, config, log } = options
    this.db = this.use(db)
    this.kafka = new Kafka({ ...config.kafka, clientId: name, log })
  }

  /**
   * Adds a component and returns it. The topics of consumers and projections are included in the readiness of the
   * service (`TopicsCheck`), and old marks are deleted.
   */
  override use<C extends Component>(component: C): C {
    if (isTopicReader(component)) {
      for (const topic of component.topics) this.#consumed.add(topic)
      this.#groups.push(component.group)
    }
    return super.use(component)
  }

  /** The outbox, for publishing events. A service that uses it also runs a relay; one that only consumes does not. */
  get outbox(): Outbox {
    if (this.#outbox === undefined) {
      const { db, kafka, name: service } = this
      this.#outbox = new Outbox({ db, service })
      this.use(new Relay({ kafka, db, outbox: this.#outbox }))
    }
    return this.#outbox
  }

  /** Ends the composition. @returns the service, ready to start. */
  override complete(): Service {
    const produced = this.#outbox === undefined ? [] : Object.values(topics).filter(this.#isProducer)
    const all = new Set<TopicDefinition>([...this.#consumed, ...produced])
    if (all.size > 0) this.use(new TopicsCheck(this.kafka, [...all]))
    if (this.#consumed.size > 0) {
      this.use(new MarkSweeper({ db: this.db, log: this.log }))
      this.use(new DeadLetterBacklog(this.kafka, this.#groups))
    }
    return super.complete()
  }

  readonly #isProducer = (topic: TopicDefinition): boolean => topic.producer === this.name
}

/** The kit of the service with this configuration, for modules that compose a part of it. */
export type KitOf<C, D extends Database = Database> =
  C extends Configuration<infer N, infer P, infer _Given, infer _Config> ? Kit<N, P, D> : never

function isTopicReader(component: object): component is TopicReader {
  return 'topics' in component
}
