import { randomUUID } from 'node:crypto'
import { type EventOf, type Topic, topics } from '@restante/contracts/events'
import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import type { ListDirection, ListType, Tier } from '@restante/contracts/vocabulary'
import { countRows, EventPublisher, waitFor } from '@restante/testkit'
import type { Fixture } from '../fixture.ts'

export type ListEvent = EventOf<Topic<'mail.lists'>>

/** Whose list an entry is on. */
export interface EntryScope {
  readonly organization_id: string
  readonly pod_id?: string
  readonly inbox_uid?: string
}

export interface TestEntry extends EntryScope {
  readonly entry_id: string
  readonly direction: ListDirection
  readonly type: ListType
  readonly entry: string
}

const { event } = topics['mail.lists']

export function changed(of: TestEntry, version = 1, reason?: string): ListEvent {
  const at = new Date().toISOString()
  const entry_type = of.entry.includes('@') ? 'email' : 'domain'
  const state = { ...of, version, entry_type, read_only: false, created_at: at, updated_at: at } as const
  return event('list_entry.changed', { ...state, ...(reason !== undefined && { reason }) }, { time: new Date() })
}

export function deleted(of: TestEntry, version = 2): ListEvent {
  return event('list_entry.deleted', { ...of, version, deleted_at: new Date().toISOString() }, { time: new Date() })
}

/** The scope of one tier to which an inbox belongs. */
export function scopeOf(inbox: Required<EntryScope>, tier: Tier): EntryScope {
  const { organization_id, pod_id, inbox_uid } = inbox
  return {
    organization_id,
    ...(tier !== 'organization' && { pod_id }),
    ...(tier === 'inbox' && { inbox_uid }),
  }
}

/** Plays the owner of the lists: publishes what happens to entries, and waits until mail-ingest knows it. */
export class ListOwner {
  readonly #fixture: Fixture
  readonly #publisher: EventPublisher
  readonly #entries: TestEntry[] = []
  /** What the owner itself has, which the projection may not know yet. */
  readonly standing = new Set<TestEntry>()

  constructor(fixture: Fixture) {
    this.#fixture = fixture
    this.#publisher = new EventPublisher(fixture.topics.kafka)
  }

  async publish(...events: ListEvent[]): Promise<void> {
    await this.#publisher.publish(topics['mail.lists'], ...events)
  }

  /** @param what `block ada@x.test` */
  async add(scope: EntryScope, direction: ListDirection, what: string): Promise<TestEntry> {
    const [type, entry = ''] = what.split(' ')
    if (type !== 'allow' && type !== 'block') throw new Error(`no type: ${what}`)
    const added: TestEntry = { ...scope, entry_id: randomUUID(), direction, type, entry }
    this.#entries.push(added)
    this.standing.add(added)
    await this.publish(changed(added))
    await waitFor(() => this.isKnown(added), { what: `the entry ${what}` })
    return added
  }

  async remove(of: TestEntry): Promise<void> {
    this.standing.delete(of)
    await this.publish(deleted(of))
    await waitFor(async () => !(await this.isKnown(of)), { what: `the end of the entry ${of.entry}` })
  }

  /** Answers as mail-send does. */
  find({ mails }: InternalRequestOf<'mail-send.findListEntries'>): InternalResponseOf<'mail-send.findListEntries'> {
    return { mails: mails.map((mail) => this.#entriesFor(mail)) }
  }

  #entriesFor({ names, ...inbox }: InternalRequestOf<'mail-send.findListEntries'>['mails'][number]) {
    const inScope = [...this.standing].filter(
      ({ organization_id, pod_id, inbox_uid }) =>
        organization_id === inbox.organization_id &&
        (pod_id === undefined || pod_id === inbox.pod_id) &&
        (inbox_uid === undefined || inbox_uid === inbox.inbox_uid),
    )
    return inScope.flatMap(({ direction, type, entry, pod_id, inbox_uid }) => {
      if (direction === 'send') return []
      const tier = inbox_uid !== undefined ? 'inbox' : pod_id !== undefined ? 'pod' : 'organization'
      const common = { direction, tier, type } as const
      return [...(names.includes(entry) ? [{ ...common, entry }] : []), ...(type === 'allow' ? [common] : [])]
    })
  }

  async isKnown({ entry_id }: TestEntry): Promise<boolean> {
    return (await countRows(this.#fixture.db, 'list_entries where id = $1 and deleted_at is null', entry_id)) > 0
  }

  /** Removes what was added. */
  async clear(): Promise<void> {
    for (const entry of this.#entries.splice(0)) await this.remove(entry)
  }

  async stop(): Promise<void> {
    await this.#publisher.stop()
  }
}
