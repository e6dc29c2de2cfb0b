import { type ServiceName, VERSION } from '@restante/contracts/vocabulary'
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
import type { FrameConfiguration } from './configuration/configuration.ts'

export interface FrameOptions<N extends ServiceName, P extends ServiceName> {
  readonly name: N
  readonly config: FrameConfiguration<P>
  readonly log: Logger
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
  readonly link?: NonNullable<ListenerOptions['link']>
}

/** The options of a listener that a service chooses; the kit sets the others. */
export type ListenOptions = Partial<ListenerOptions> & Pick<ListenerOptions, 'handle'>

/**
 * The parts that all services have in common. Every part is a component of the service, which starts and stops it and
 * reports its state. `STAGES` of `@restante/service` defines the order.
 */
export class Frame<N extends ServiceName, P extends ServiceName> {
  readonly name: N
  readonly log: Logger
  readonly #config: FrameConfiguration<P>
  readonly #service: Service
  readonly #clients: ReadonlyMap<ServiceName, ServiceClient<N>>
  #isComplete = false

  constructor({ name, config, log }: FrameOptions<N, P>) {
    this.name = name
    this.log = log
    this.#config = config
    this.#service = new Service({ name, log })
    // The first component, so that metrics are available during a long start.
    this.use(new MetricsListener(config.metrics, { version: VERSION }, { ...this.#front, limits: config.http.limits }))
    this.#clients = new Map(config.peers.names.map((peer) => [peer, this.#open(peer)]))
  }

  /** Adds a component and returns it. */
  use<C extends Component>(component: C): C {
    if (this.#isComplete) throw new Error(`${component.name} cannot be added: the service is already composed`)
    return this.#service.use(component)
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
  serve({ callerKey, handlers, internal, upgrade, link }: ServeOptions<N>): void {
    const handle = serviceRoutes({
      service: this.name,
      handlers,
      internal,
      callerKey,
      confirm: confirmWith(this.#client('gateway')),
      peerKeys: this.#config.peers.keys,
    })
    this.listen({ handle, ...(upgrade && { upgrade }), ...(link && { link }) })
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
}
