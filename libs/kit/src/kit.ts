import { type TopicDefinition, topics } from '@restante/contracts/events'
import { type ServiceName, VERSION } from '@restante/contracts/vocabulary'
import { DeadLetterBacklog, Kafka, MarkSweeper, Outbox, Relay, TopicsCheck } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import {
  confirmWith,
  type Handlers,
  type Health,
  HttpListener,
  type InternalHandlers,
  type ListenerOptions,
  MetricsListener,
  ServiceClient,
  serviceRoutes,
} from '@restante/service/http'
import { GuardedFetch, type GuardedFetchOptions } from '@restante/service/outbound'
import { type Component, Service } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { Configuration, ServiceConfiguration } from './configuration/configuration.ts'

export interface KitOptions<N extends ServiceName, P extends ServiceName, D extends Database> {
  readonly name: N
  readonly config: ServiceConfiguration<P>
  readonly log: Logger
  readonly db: D
}

/** How the operations of a service are served. */
export interface ServeOptions<N extends ServiceName> {
  /** Key of the caller tokens (`callerVariables`). */
  readonly callerKey: string
  /** A handler for each public operation that the service owns. */
  readonly handlers: Handlers<N>
  /** A handler for each internal operation that the service owns. */
  readonly internal: InternalHandlers<N>
  readonly upgrade?: NonNullable<ListenerOptions['upgrade']>
}

/** The options of a listener that a service chooses; the kit sets the others. */
export type ListenOptions = Partial<ListenerOptions> & Pick<ListenerOptions, 'handle'>

/** A component that consumes topics: a consumer or a projection. */
interface TopicReader {
  readonly topics: readonly TopicDefinition[]
  /** Its consumer group. */
  readonly group: string
}

/**
 * The parts that services have in common, each created at its first use. Every part is a component of the service,
 * which starts and stops it and reports its state. `STAGES` of `@restante/service` defines the order.
 */
export class Kit<N extends ServiceName, P extends ServiceName, D extends Database = Database> {
  readonly name: N
  readonly log: Logger
  readonly db: D
  /** Connection settings; each consumer and the relay open sockets of their own. */
  readonly kafka: Kafka
  readonly #config: ServiceConfiguration<P>
  readonly #service: Service
  readonly #clients: ReadonlyMap<ServiceName, ServiceClient<N>>
  readonly #consumed = new Set<TopicDefinition>()
  readonly #groups: string[] = []
  #outbox: Outbox | undefined
  #isComplete = false

  constructor({ name, config, log, db }: KitOptions<N, P, D>) {
    this.name = name
    this.log = log
    this.#config = config
    this.#service = new Service({ name, log })
    // The first component, so that metrics are available during a long start.
    this.use(new MetricsListener(config.metrics, { version: VERSION }, { ...this.#front, limits: config.http.limits }))
    this.db = this.use(db)
    this.kafka = new Kafka({ ...config.kafka, clientId: name, log })
    this.#clients = new Map(config.peers.names.map((peer) => [peer, this.#open(peer)]))
  }

  /**
   * Adds a component and returns it. The topics of consumers and projections are included in the readiness of the
   * service (`TopicsCheck`), and old marks are deleted.
   */
  use<C extends Component>(component: C): C {
    if (this.#isComplete) throw new Error(`${component.name} cannot be added: the service is already composed`)
    if (isTopicReader(component)) {
      for (const topic of component.topics) this.#consumed.add(topic)
      this.#groups.push(component.group)
    }
    return this.#service.use(component)
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

  /** The client of another service, which the configuration must declare as a peer. */
  peer(name: P): ServiceClient<N> {
    return this.#client(name)
  }

  /**
   * The client for URLs that come from users. Its requests reach only public addresses, and those that `options` allow.
   */
  fetcher(options: Omit<GuardedFetchOptions, 'version'>): GuardedFetch {
    return this.use(new GuardedFetch({ version: VERSION, ...options }))
  }

  /**
   * Serves the operations of a service behind the gateway. Requests that took long to arrive are confirmed with the
   * gateway before they take effect.
   * @throws Error when an operation has no handler, or a handler no operation.
   */
  serve({ callerKey, handlers, internal, upgrade }: ServeOptions<N>): void {
    const handle = serviceRoutes({
      service: this.name,
      handlers,
      internal,
      callerKey,
      confirm: confirmWith(this.#client('gateway')),
      peerKeys: this.#config.peers.keys,
    })
    this.listen({ handle, ...(upgrade && { upgrade }) })
  }

  /** Serves HTTP on the port of the configuration, or of `options`. */
  listen(options: ListenOptions): void {
    this.use(new HttpListener({ ...this.#config.http, ...this.#front, ...options }))
  }

  /** The readiness of the service, as `/readyz` reports it. */
  get health(): Health {
    return this.#service
  }

  /** Ends the composition. @returns the service, ready to start. */
  complete(): Service {
    const produced = this.#outbox === undefined ? [] : Object.values(topics).filter(this.#isProducer)
    const all = new Set<TopicDefinition>([...this.#consumed, ...produced])
    if (all.size > 0) this.use(new TopicsCheck(this.kafka, [...all]))
    if (this.#consumed.size > 0) {
      this.use(new MarkSweeper({ db: this.db, log: this.log }))
      this.use(new DeadLetterBacklog(this.kafka, this.#groups))
    }
    this.#isComplete = true
    return this.#service
  }

  get #front() {
    return { log: this.log, docsUrl: this.#config.docsUrl, health: this.#service }
  }

  #open(peer: ServiceName): ServiceClient<N> {
    return this.use(new ServiceClient({ from: this.name, to: peer, ...this.#config.peers.of(peer) }))
  }

  #client(name: ServiceName): ServiceClient<N> {
    const client = this.#clients.get(name)
    if (client === undefined) throw new Error(`the configuration of ${this.name} does not declare the peer ${name}`)
    return client
  }

  readonly #isProducer = (topic: TopicDefinition): boolean => topic.producer === this.name
}

/** The kit of the service with this configuration, for modules that compose a part of it. */
export type KitOf<C, D extends Database = Database> =
  C extends Configuration<infer N, infer P, infer _Given, infer _Config> ? Kit<N, P, D> : never

function isTopicReader(component: object): component is TopicReader {
  return 'topics' in component
}
