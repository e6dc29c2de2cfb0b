import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceName } from '@restante/contracts'
import { type EngineName, engineNames } from '@restante/local/engines/engine.ts'
import { canRun } from '@restante/local/engines/packages.ts'
import { testKafka, WebhookReceiver, waitFor } from '@restante/testkit'
import { START_TIMEOUT } from '../stack/connect.ts'
import { currentRun } from '../stack/run.ts'
import { System } from '../stack/system.ts'
import { type OutsidePeer, openPeer } from '../support/peers.ts'
import { describeWith } from '../support/programs.ts'
import { createTenant, type Tenant } from '../support/tenants.ts'
import { Correspondent } from './correspondent.ts'
import {
  deadLetters,
  deliveryIds,
  type EventIds,
  publishedIn,
  repeated,
  storedIn,
  toldBy,
  toldByWebhook,
} from './counts.ts'
import { MailSource } from './mail-source.ts'
import { OwnEngines } from './own-engines.ts'
import { RecoveringStream } from './recovering-stream.ts'

export interface InstallationOptions {
  /** Names the folder of its state. */
  readonly name: string
  readonly replicas?: number
  /** Variables of every service, over those of all installations. */
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * As an operator would have it: no mail is given up within a test, and a gateway is ready whatever becomes of the others,
 * so that a service that moves takes no gateway along. Senders are believed: on a machine with too much to do the zone
 * that vouches for them answers too late, their mail is told of as unauthenticated, and the count would miss it.
 */
const ENVIRONMENT = { RETRY_FOR: '1h', READY_INCLUDES_UPSTREAMS: 'false', SENDER_AUTH: 'trust-loopback' }
const INBOXES = 20
/** Everything that can be owed after a fault has been done by then; a loaded machine needs a good part of it. */
const SETTLE_MS = 90_000

/**
 * A whole installation on engines of its own, with an organization whose mail is watched from all sides: a mail server
 * that sends to it, an agent that answers, a webhook and a stream. Its processes are started again when they die.
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
  readonly #agents: Correspondent[] = []
  readonly #secret: string
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
    this.#secret = secret
    this.#folder = folder
    const { place } = system
    this.source = new MailSource({ place, host: peer.server.host, domain: peer.domain, inboxes })
    this.stream = new RecoveringStream(place, tenant.key).start()
  }

  static async start({ name, replicas = 1, environment }: InstallationOptions): Promise<Installation> {
    const folder = `${currentRun().folder}-${name}`
    const engines = await OwnEngines.start(folder)
    const started: { stop(): Promise<void> }[] = [engines]
    try {
      const { ground } = engines
      const variables = { ...ENVIRONMENT, ...environment }
      const system = await System.start(folder, { ground, replicas, supervised: true, environment: variables })
      started.unshift(system)
      const [tenant, peer] = await Promise.all([createTenant(system.place), openPeer(system.place)])
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

  /** An agent begins to answer what comes in. */
  startAgent(): Correspondent {
    const agent = new Correspondent(this.tenant, this.inboxes, `Agent ${this.#agents.length}`).start()
    this.#agents.push(agent)
    return agent
  }

  /** Kills a service at once; it is started again. Resolves when it is ready. */
  async killService(name: ServiceName): Promise<void> {
    const process = this.system.process(name)
    const { pid } = process
    process.kill()
    await waitFor(() => process.pid !== pid, { what: `${name} to be started again` })
    await process.ready()
  }

  /** Kills an engine at once and keeps it away for a while. */
  async outage(name: EngineName, milliseconds: number): Promise<void> {
    await this.engines.kill(name)
    await sleep(milliseconds)
    await this.engines.restart(name)
  }

  /** Resolves when everything that is owed for what was sent so far has been done, or no more time is left for it. */
  async settle(): Promise<void> {
    const wanted = this.source.accepted.length
    await waitFor(() => this.toldByWebhook().size >= wanted, {
      what: `${wanted} mails at the webhook`,
      timeout: SETTLE_MS,
      interval: 500,
    }).catch(() => undefined)
    await waitFor(() => this.#replies.every(({ text }) => this.#outside(text).length > 0), {
      what: 'the replies outside',
      timeout: SETTLE_MS,
      interval: 200,
    }).catch(() => undefined)
  }

  /** What came in and what agents sent since the installation began has all got where it belongs, once. */
  async expectEverything(): Promise<void> {
    await this.settle()
    expect(await this.count()).toEqual(this.expected(this.source.accepted.length))
    expect(await this.countReplies()).toEqual(this.expectedReplies())
  }

  /** Everything that came in, counted at each step of its way. */
  async count() {
    const sent = this.source.accepted
    const stored = (await Promise.all(this.inboxes.map((inbox) => storedIn(this.tenant, inbox)))).flat()
    const present = new Set(stored)
    const events = await publishedIn(this.kafka(), sent.length)
    const webhooks = this.toldByWebhook()
    return {
      accepted: sent.length,
      stored: present.size,
      storedTwice: repeated(stored),
      notStored: sent.map(({ id }) => id).filter((id) => !present.has(id)),
      published: events.size,
      publishedTwice: severalIds(events),
      told: webhooks.size,
      toldUnderSeveralIds: severalIds(deliveryIds(this.receiver)),
      toldOtherwise: [...webhooks].filter(([id, ids]) => !agree(ids, events.get(id))).map(([id]) => id),
      deadLetters: await deadLetters(this.kafka()),
      deaths: this.system.processes().flatMap(({ name, deaths }) => deaths.map((how) => `${name}: ${how}`)),
    }
  }

  /** What `count` finds when nothing is lost, nothing is there twice and nobody died who was not killed. */
  expected(mails: number) {
    return {
      accepted: mails,
      stored: mails,
      storedTwice: [],
      notStored: [],
      published: mails,
      publishedTwice: [],
      told: mails,
      toldUnderSeveralIds: [],
      toldOtherwise: [],
      deadLetters: 0,
      deaths: [],
    }
  }

  /** The agents' replies, counted at each step of their way. */
  async countReplies() {
    const replies = this.#replies
    const labels = await Promise.all(
      replies.map(async ({ inboxId, messageId }) => {
        const message = await waitFor(
          async () => {
            const found = await this.tenant.client.inboxes.messages.get(inboxId, messageId)
            return found.labels.includes('delivered') && found
          },
          { what: `${messageId} to be delivered`, timeout: 30_000, interval: 200 },
        )
        return message.labels
      }),
    )
    return {
      sent: replies.length,
      arrived: replies.filter(({ text }) => this.#outside(text).length > 0).length,
      // A peer may see the same mail twice when its 250 was not heard, never two mails.
      underSeveralIds: replies.filter(({ text }) => new Set(this.#outside(text)).size > 1).length,
      delivered: labels.length,
    }
  }

  /** What `countReplies` finds when each reply got out and was told to be delivered. */
  expectedReplies() {
    const replies = this.#replies.length
    return { sent: replies, arrived: replies, underSeveralIds: 0, delivered: replies }
  }

  get #replies() {
    return this.#agents.flatMap(({ replies }) => replies)
  }

  /** Ids of the mails that came out with that text. */
  #outside(text: string): string[] {
    return this.peer.server.mails
      .filter(({ parsed }) => parsed.text?.startsWith(`${text}\n`))
      .map(({ parsed }) => parsed.messageId ?? '')
  }

  /** Deliveries that the receiver was sent again after it had taken them. */
  toldTwice(): string[] {
    return repeated(this.receiver.taken)
  }

  /** Replies that came out more than once. */
  arrivedTwice(): string[] {
    return repeated(this.peer.server.mails.map(({ parsed }) => parsed.messageId ?? ''))
  }

  toldByWebhook(): EventIds {
    return toldByWebhook(this.receiver, this.#secret)
  }

  toldByStream(): EventIds {
    return toldBy(this.stream.events)
  }

  kafka() {
    return testKafka('', this.engines.ground.urls.KAFKA_BROKERS.split(','))
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

function agree(some: ReadonlySet<string>, others: ReadonlySet<string> = new Set()): boolean {
  return [...some].every((id) => others.has(id))
}

function severalIds(told: EventIds): string[] {
  return [...told].filter(([, ids]) => ids.size > 1).map(([id]) => id)
}

/** Engines and services of its own, and what they need to come up. */
export const INSTALLATION_TIMEOUT = START_TIMEOUT

const engines = await canRun(engineNames)

/** Tests that kill engines need them as processes of this machine. */
export function describeFaults(name: string, tests: () => void, programs: readonly string[] = []): void {
  describeWith({ programs, missing: engines ? [] : ['native engines'] }, name, tests)
}
