import { topics } from '@restante/contracts/events'
import {
  CHECKED_SERVICES,
  CHECKS,
  type CheckedService,
  type CheckPage,
  type CheckRequest,
} from '@restante/contracts/internal'
import { Schedule } from '@restante/jobs'
import type { PeerAddress } from '@restante/kit'
import { Kafka, type KafkaOptions, Outbox, offsetsCheck, outboxCheck, topicsCheck } from '@restante/messaging'
import { ServiceClient } from '@restante/service/http'
import { createLogger } from '@restante/service/telemetry'
import { type DatabaseLocation, type Db, openDatabase } from '../../storage/database.ts'
import type { GatewayTimerKinds } from '../../storage/timers.ts'
import { TenancyEvents } from '../../tenancy/events.ts'
import { COMPARED_SERVICES, compareInboxes } from './inboxes.ts'
import { lostChanges } from './lost-changes.ts'
import { lostDeletions } from './own-timers.ts'
import { type CheckOptions, type InstallationCheck, onePage } from './request.ts'
import { Restoring } from './restoring.ts'

/** A page asks other services and the object store, or applies events: it may take as long as that. */
const PAGE_MS = 120_000

export interface InstallationConfig {
  readonly database: DatabaseLocation
  readonly kafka: Omit<KafkaOptions, 'clientId' | 'log'>
  readonly peerOf: (service: CheckedService) => PeerAddress
  readonly retiredAddressMs: number
  readonly sharedDomains: ReadonlySet<string>
  readonly operator: string
}

/** The stores of the installation, as far as they must agree with each other. */
export class Installation {
  readonly #db: Db
  readonly #kafka: Kafka
  readonly #peers: ReadonlyMap<CheckedService, ServiceClient<'gateway'>>
  readonly #timers = new Schedule<GatewayTimerKinds>()
  readonly #restoring: Restoring
  readonly #operator: string

  constructor({ database, kafka, peerOf, ...config }: InstallationConfig) {
    this.#db = openDatabase({ ...database, poolSize: 2 })
    this.#kafka = new Kafka({
      ...kafka,
      clientId: 'gateway',
      log: createLogger({ service: 'gateway', level: 'silent' }),
    })
    this.#peers = new Map(CHECKED_SERVICES.map((to) => [to, new ServiceClient({ from: 'gateway', to, ...peerOf(to) })]))
    this.#operator = config.operator
    // Running gateways cache keys for a second at most; this process has no cache to invalidate.
    const events = new TenancyEvents(new Outbox({ db: this.#db, service: 'gateway' }), () => {})
    this.#restoring = new Restoring({ ...config, db: this.#db, timers: this.#timers, events })
  }

  async close(): Promise<void> {
    await Promise.all([this.#db.stop(), ...[...this.#peers.values()].map((peer) => peer.stop())])
  }

  /**
   * The checks in the order in which repairs build on each other: topics before what reads them, the gateway before those
   * that follow it, outcomes of deliveries before anything is due again.
   */
  checks(options: CheckOptions): InstallationCheck[] {
    const db = this.#db
    const kafka = this.#kafka
    const { repair } = options
    const definitions = Object.values(topics)
    const own = { db, kafka, restoring: this.#restoring, peer: (service: CheckedService) => this.#peer(service) }
    return [
      { of: 'kafka', name: 'topics', pages: () => onePage(() => topicsCheck(kafka, definitions, repair)) },
      { of: 'kafka', name: 'offsets', pages: () => onePage(() => offsetsCheck(kafka, definitions, repair)) },
      {
        of: 'gateway',
        name: 'outbox',
        pages: () => pagesOf((after) => outboxCheck(db)(this.#request('outbox', options, after))),
      },
      { of: 'gateway', name: 'changes', pages: () => lostChanges(own, options) },
      { of: 'gateway', name: 'timers', pages: () => lostDeletions(db, this.#timers, repair) },
      ...COMPARED_SERVICES.map((service) => ({
        of: service,
        name: 'inboxes',
        pages: () => compareInboxes(service, own, options),
      })),
      ...CHECKED_SERVICES.flatMap((service) =>
        CHECKS[service].map((name) => ({
          of: service,
          name,
          pages: () => pagesOf((after) => this.#ask(service, this.#request(name, options, after))),
        })),
      ),
    ]
  }

  #request(
    check: string,
    { repair, restored, since, deleteOrphans }: CheckOptions,
    after: string | undefined,
  ): CheckRequest {
    return {
      check,
      repair,
      restored: [...restored],
      delete_orphans: deleteOrphans,
      operator: this.#operator,
      ...(since && { since: since.toISOString() }),
      ...(after !== undefined && { after }),
    }
  }

  #ask(service: CheckedService, request: CheckRequest): Promise<CheckPage> {
    return this.#peer(service).call(`${service}.check`, request, PAGE_MS)
  }

  #peer(service: CheckedService): ServiceClient<'gateway'> {
    const peer = this.#peers.get(service)
    if (peer === undefined) throw new Error(`${service} is not a service that is checked`)
    return peer
  }
}

async function* pagesOf(page: (after: string | undefined) => Promise<CheckPage>): AsyncGenerator<CheckPage> {
  for (let after: string | undefined, last = false; !last; ) {
    const found = await page(after)
    yield found
    after = found.next
    last = after === undefined
  }
}
