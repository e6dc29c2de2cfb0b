import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { type EngineName, engineNames } from '@restante/local/engines/engine.ts'
import { canRun } from '@restante/local/engines/packages.ts'
import { testKafka, WebhookReceiver, waitFor } from '@restante/testkit'
import { START_TIMEOUT } from '../../stack/connect.ts'
import { currentRun } from '../../stack/run.ts'
import { present, type Sources } from '../../stack/sources.ts'
import { System } from '../../stack/system.ts'
import { type OutsidePeer, openPeer } from '../../support/peers.ts'
import { createTenant, type Tenant } from '../../support/tenants.ts'
import type { Correspondent } from './correspondent.ts'
import { deadLetters, type EventIds, eventsIn, publishedIn } from './counts.ts'
import { Ledger, severalIds } from './ledger.ts'
import { MailSource } from './mail-source.ts'
import { OwnEngines } from './own-engines.ts'
import { RecoveringStream } from './recovering-stream.ts'

export interface InstallationOptions {
  /** Names the folder of its state. */
  readonly name: string
  readonly replicas?: number
  /** The release that it starts with. Default: this one. */
  readonly sources?: Sources
  /** Variables of every service, which override those of all installations. */
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * Configured like a production installation: no mail is given up within a test, and the readiness of a gateway does not
 * depend on the other services, so that a restarted service affects no gateway. Senders are trusted: on an overloaded
 * machine the zone that authenticates them answers too late, their mail would be published as unauthenticated, and the
 * count would miss it.
 */
const ENVIRONMENT = { RETRY_FOR: '1h', READY_INCLUDES_UPSTREAMS: 'false', SENDER_AUTH: 'trust-loopback' }
const INBOXES = 20

/**
 * A whole installation on engines of its own, with an organization whose mail is observed at every exit: a mail server
 * that sends to it, an agent that replies, a webhook and a stream. Its processes are restarted when they die.
 */
export class Installation {
  readonly engines: OwnEngines
  readonly system: System
  readonly tenant: Tenant
  readonly inboxes: readonly string[]
  readonly peer: OutsidePeer
  readonly receiver: WebhookReceiver
  readonly source: MailSource
  readonly stream: RecoveringStream
  readonly #ledger: Ledger
  readonly #folder: string

  private constructor(parts: {
    engines: OwnEngines
    system: System
    tenant: Tenant
    inboxes: readonly string[]
    peer: OutsidePeer
    receiver: WebhookReceiver
    secret: string
    folder: string
  }) {
    const { engines, system, tenant, inboxes, peer, receiver, secret, folder } = parts
    this.engines = engines
    this.system = system
    this.tenant = tenant
    this.inboxes = inboxes
    this.peer = peer
    this.receiver = receiver
    this.#folder = folder
    const { endpoints } = system
    const smtp = { host: '127.0.0.1', port: endpoints.smtpPort }
    this.source = new MailSource({ smtp, host: peer.server.host, domain: peer.domain, inboxes })
    this.#ledger = new Ledger({ tenant, inboxes, source: this.source, server: peer.server, receiver, secret })
    this.stream = new RecoveringStream(endpoints, tenant.key).start()
  }

  static async start(options: InstallationOptions): Promise<Installation> {
    const { name, replicas = 1, sources = present, environment } = options
    const folder = `${currentRun().folder}-${name}`
    const engines = await OwnEngines.start(folder, sources)
    const started: { stop(): Promise<void> }[] = [engines]
    try {
      const { resources } = engines
      const variables = { ...ENVIRONMENT, ...environment }
      const shape = { resources, replicas, sources, supervised: true }
      const system = await System.start(folder, { ...shape, environment: variables })
      started.unshift(system)
      const [tenant, peer] = await Promise.all([createTenant(system.endpoints, sources), openPeer(system.endpoints)])
      const inboxes = await Promise.all(
        Array.from({ length: INBOXES }, async () => (await tenant.client.inboxes.create({})).inboxId),
      )
      const receiver = await new WebhookReceiver().start()
      const { secret } = await tenant.client.webhooks.create({ url: receiver.url, eventTypes: ['message.received'] })
      return new Installation({ engines, system, tenant, inboxes, peer, receiver, secret, folder })
    } catch (error) {
      for (const part of started) await part.stop()
      throw error
    }
  }

  /** Starts an agent that replies to incoming mail. */
  startAgent(): Correspondent {
    return this.#ledger.startAgent()
  }

  /** Kills a service or an engine, which is restarted. Resolves when it is ready. */
  killAndRestart(name: ServiceName | EngineName): Promise<void> {
    return isService(name) ? this.killService(name) : this.outage(name, 0)
  }

  /** Kills one process of a service, which is restarted. Resolves when it is ready. */
  async killService(name: ServiceName, replica = 0): Promise<void> {
    const process = this.system.process(name, replica)
    const { pid } = process
    process.kill()
    await waitFor(() => process.pid !== pid, { what: `${name} to be started again` })
    await process.ready()
  }

  /** Kills an engine and restarts it after a while. */
  async outage(name: EngineName, milliseconds: number): Promise<void> {
    await this.engines.kill(name)
    await sleep(milliseconds)
    await this.engines.restart(name)
  }

  /** Resolves when everything that was sent so far is fully processed, or when the time limit is reached. */
  settle(): Promise<void> {
    return this.#ledger.settle()
  }

  /** Expects that everything received and sent since the start of the installation has reached its destination once. */
  async expectEverything(): Promise<void> {
    await this.settle()
    expect(await this.count()).toEqual(this.expected())
    expect(await this.countReplies()).toEqual(this.expectedReplies())
  }

  /** Counts the received mail at each step of its processing. */
  async count() {
    const { accepted } = this.source
    const events = await publishedIn(this.kafka(), this.tenant.id, accepted.length)
    const webhooks = this.eventsInWebhooks()
    return {
      ...(await this.#ledger.count()),
      published: events.size,
      publishedTwice: severalIds(events),
      differingIds: [...webhooks].filter(([id, ids]) => !agree(ids, events.get(id))).map(([id]) => id),
      deadLetters: await deadLetters(this.kafka()),
      deaths: this.system.processes().flatMap(({ name, deaths }) => deaths.map((how) => `${name}: ${how}`)),
    }
  }

  /** The result of `count` when nothing is lost or duplicated, and no process died without being killed. */
  expected() {
    const published = this.source.accepted.length
    return {
      ...this.#ledger.expected(),
      published,
      publishedTwice: [],
      differingIds: [],
      deadLetters: 0,
      deaths: [],
    }
  }

  /** Counts the replies of the agents at each step of their processing. */
  countReplies() {
    return this.#ledger.countReplies()
  }

  /** The result of `countReplies` when each reply was delivered and reported as delivered. */
  expectedReplies() {
    return this.#ledger.expectedReplies()
  }

  /** Deliveries that the receiver got again after it had accepted them. */
  deliveredTwice(): string[] {
    return this.#ledger.deliveredTwice()
  }

  /** Replies that were delivered more than once. */
  arrivedTwice(): string[] {
    return this.#ledger.arrivedTwice()
  }

  eventsInWebhooks(): EventIds {
    return this.#ledger.eventsInWebhooks()
  }

  eventsOnStream(): EventIds {
    return eventsIn(this.stream.events)
  }

  kafka() {
    return testKafka('', this.engines.resources.urls.KAFKA_BROKERS.split(','))
  }

  async stop(): Promise<void> {
    this.source.close()
    await this.stream.stop()
    await this.system.stop()
    await this.receiver.stop()
    await this.peer.stop()
    await this.engines.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

function isService(name: string): name is ServiceName {
  return SERVICES.some((service) => service === name)
}

function agree(some: ReadonlySet<string>, others: ReadonlySet<string> = new Set()): boolean {
  return [...some].every((id) => others.has(id))
}

/** Engines and services of its own, with the time that they need to start. */
export const INSTALLATION_TIMEOUT = START_TIMEOUT

/** Tests that kill engines need them as processes of this machine. */
export const MISSING_ENGINES: readonly string[] = (await canRun(engineNames)) ? [] : ['native engines']
