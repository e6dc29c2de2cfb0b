import { randomUUID } from 'node:crypto'
import { type DomainState, topics } from '@restante/contracts/events'
import { countRows, type EventPublisher, waitFor } from '@restante/testkit'
import { type Fixture, inboxCaller } from './fixture.ts'

/** A domain of an organization, and an inbox on it, or below it. */
export class CustomDomain {
  readonly uid = randomUUID()
  readonly name: string
  readonly caller = inboxCaller()
  readonly #fixture: Fixture
  readonly #publisher: EventPublisher
  #version = 0

  constructor(fixture: Fixture, publisher: EventPublisher, name = `d${randomUUID().slice(0, 8)}.test`) {
    this.name = name
    this.#fixture = fixture
    this.#publisher = publisher
  }

  /** Registers it, or changes it: its owner knows, and the event has arrived. */
  async set(state: Partial<DomainState> = {}): Promise<this> {
    const changed = this.register(state)
    const { event } = topics['domains.state']
    await this.#publish(event('domain.changed', changed, { time: new Date() }))
    return this
  }

  /** The same before the event arrives. */
  register(state: Partial<DomainState> = {}): DomainState {
    const at = new Date().toISOString()
    const registered: DomainState = {
      organization_id: this.caller.organization_id,
      domain_uid: this.uid,
      version: ++this.#version,
      domain: this.name,
      ...{ status: 'VERIFIED', inbound_enabled: true, subdomains_enabled: false, feedback_enabled: true },
      ...{ tracking_enabled: false, proven: true, sending_ready: true, return_path: `rp.${this.name}` },
      ...{ created_at: at, updated_at: at },
      ...state,
    }
    this.#fixture.peers.registered.set(this.uid, registered)
    return registered
  }

  async delete(): Promise<void> {
    const { event } = topics['domains.state']
    this.#fixture.peers.registered.delete(this.uid)
    const { organization_id } = this.caller
    const facts = { organization_id, domain_uid: this.uid, version: ++this.#version, domain: this.name }
    await this.#publish(
      event('domain.deleted', { ...facts, deleted_at: new Date().toISOString() }, { time: new Date() }),
    )
  }

  /** An inbox of its organization; `below` are labels in front of the domain. */
  inbox(below = '') {
    const inbox = { ...inboxCaller().inbox, address: `desk-${randomUUID().slice(0, 8)}@${below}${this.name}` }
    return { ...this.caller, inbox }
  }

  async send(body: Record<string, unknown>, caller = this.inbox(), key?: string) {
    return this.#fixture.call('messages.send', caller, {
      path: '/messages/send',
      body,
      ...(key !== undefined && { key }),
    })
  }

  async #publish(published: ReturnType<(typeof topics)['domains.state']['event']>): Promise<void> {
    await this.#publisher.publish(topics['domains.state'], published)
    const known = () =>
      countRows(this.#fixture.db, 'registered_domains where id = $1 and version >= $2', this.uid, this.#version)
    await waitFor(async () => (await known()) > 0, { what: `the state of ${this.name}` })
  }
}
