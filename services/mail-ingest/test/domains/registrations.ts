import { randomUUID } from 'node:crypto'
import { type DomainState, type EventOf, type Topic, topics } from '@restante/contracts/events'
import { countRows, EventPublisher, waitFor } from '@restante/testkit'
import type { Fixture } from '../fixture.ts'

export type DomainEvent = EventOf<Topic<'domains.state'>>

export type Identity = Pick<DomainState, 'organization_id' | 'domain_uid' | 'domain'>
export type Switches = Partial<
  Pick<
    DomainState,
    | 'proven'
    | 'inbound_enabled'
    | 'subdomains_enabled'
    | 'feedback_enabled'
    | 'tracking_enabled'
    | 'tracking_host'
    | 'status'
  >
>

const { event } = topics['domains.state']

export function newRegistration(domain: string, organization_id: string = randomUUID()): Identity {
  return { organization_id, domain_uid: randomUUID(), domain }
}

export function stateOf(of: Identity, version = 1, switches: Switches = {}): DomainState {
  const at = new Date().toISOString()
  return {
    ...of,
    version,
    status: 'VERIFIED',
    inbound_enabled: true,
    subdomains_enabled: false,
    feedback_enabled: true,
    tracking_enabled: false,
    proven: true,
    sending_ready: true,
    return_path: `rp.${of.domain}`,
    created_at: at,
    updated_at: at,
    ...switches,
  }
}

export function changed(of: Identity, version = 1, switches: Switches = {}): DomainEvent {
  return event('domain.changed', stateOf(of, version, switches), { time: new Date() })
}

export function deleted(of: Identity, version = 2): DomainEvent {
  return event('domain.deleted', { ...of, version, deleted_at: new Date().toISOString() }, { time: new Date() })
}

/** Plays the owner of domains: publishes what happens to them, and waits until mail-ingest knows it. */
export class DomainOwner {
  readonly #fixture: Fixture
  readonly #publisher: EventPublisher
  readonly #versions = new Map<string, number>()

  constructor(fixture: Fixture) {
    this.#fixture = fixture
    this.#publisher = new EventPublisher(fixture.topics.kafka)
  }

  /** Registers a domain, or changes it. */
  async set(of: Identity, switches: Switches = {}): Promise<void> {
    const version = this.#next(of)
    this.#fixture.domainsDns.registered.set(of.domain_uid, stateOf(of, version, switches))
    await this.#publish(of, changed(of, version, switches))
  }

  async delete(of: Identity): Promise<void> {
    this.#fixture.domainsDns.registered.delete(of.domain_uid)
    await this.#publish(of, deleted(of, this.#next(of)))
  }

  async stop(): Promise<void> {
    await this.#publisher.stop()
  }

  #next({ domain_uid }: Identity): number {
    const version = (this.#versions.get(domain_uid) ?? 0) + 1
    this.#versions.set(domain_uid, version)
    return version
  }

  async #publish({ domain_uid, domain }: Identity, published: DomainEvent): Promise<void> {
    await this.#publisher.publish(topics['domains.state'], published)
    const known = () =>
      countRows(
        this.#fixture.db,
        'registered_domains where id = $1 and version >= $2',
        domain_uid,
        published.payload.version,
      )
    await waitFor(async () => (await known()) > 0, { what: `the state of ${domain}` })
  }
}
