import { type Topic, topics } from '@restante/contracts/events'
import type { DeletedInbox } from '@restante/contracts/internal'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { Consumer, type Handlers, type Kafka } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { type PurgeInBatches, PurgeLoop, purgeBacklog } from './purge.ts'
import { TombstoneSweeper } from './tombstone-sweeper.ts'
import { type DeletedScope, type Deletion, deletionOfInbox, findTombstone, Tombstones } from './tombstones.ts'

/** Deletes a service's data in the transaction that stores the tombstone: for services that store little of a scope. */
export interface PurgeAtOnce {
  /**
   * Deletes all data of a deleted inbox, pod or organization. Called once for each, while the lock of its tombstone is
   * held.
   */
  atOnce(tx: Tx, scope: DeletedScope): Promise<void>
}

type TenancyTopic = Topic<'tenancy'>

/** Handlers of events other than those that store tombstones. */
type OtherHandlers = Omit<Handlers<TenancyTopic>, 'inbox.deleted' | 'pod.deleted' | 'organization.deleted'>

export interface TenancyOptions {
  readonly service: ServiceName
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
  /** How the service deletes its data. Deletions of pods are followed by `PurgeAtOnce`, and by a `PurgeInBatches` with `pod`. */
  readonly purge: PurgeInBatches | PurgeAtOnce
  /** Default: tombstones without addresses, stored under the lock that `holdInbox` shares. */
  readonly tombstones?: Tombstones
  /** Handlers of other events of the topic. They run in the same consumer. */
  readonly handlers?: OtherHandlers
}

/**
 * Applies deletions of inboxes, pods and organizations to a service: consumes their events, stores tombstones, purges
 * the service's data, reports the backlog, and answers the gateway whether an inbox is purged. Deletions are final, so
 * their order among other events does not matter.
 */
export class Tenancy implements Component {
  readonly name = 'tenancy'
  readonly stage = 'work'
  readonly consumer: Consumer<TenancyTopic>
  /** The topics that it consumes. */
  readonly topics: readonly TenancyTopic[]
  readonly group: string
  readonly #db: Database
  readonly #purge: PurgeInBatches | PurgeAtOnce
  readonly #tombstones: Tombstones
  readonly #loop: PurgeLoop | undefined
  /** In the order in which they start. */
  readonly #components: readonly Required<Pick<Component, 'start' | 'stop'>>[]

  constructor(options: TenancyOptions) {
    const { service, kafka, db, log, purge, tombstones = new Tombstones() } = options
    this.#db = db
    this.#purge = purge
    this.#tombstones = tombstones
    this.consumer = new Consumer({ kafka, db, service, topic: topics.tenancy, handlers: this.#handlers(options) })
    this.topics = this.consumer.topics
    this.group = this.consumer.group
    this.#loop = 'atOnce' in purge ? undefined : new PurgeLoop({ db, log, batches: purge })
    const purging = this.#loop ? [this.#loop, purgeBacklog(db, log)] : []
    this.#components = [...purging, new TombstoneSweeper({ db, log }), this.consumer]
  }

  async start(): Promise<void> {
    for (const component of this.#components) await component.start()
  }

  working(): Promise<void> {
    return this.consumer.working()
  }

  /** Waits until the events and the batch in progress are done. */
  async stop(): Promise<void> {
    for (const component of this.#components.toReversed()) await component.stop()
  }

  /**
   * Handles `<service>.purgeInbox`, the question whether all data of a deleted inbox is purged. If the service has not
   * consumed the deletion yet, the request applies it. The handler also works in processes that do not run this
   * component.
   */
  readonly purgeInbox = async ({ body }: { readonly body: DeletedInbox }): Promise<{ purged: boolean }> => {
    const known = await findTombstone(this.#db, body.inbox_uid)
    if (known) return { purged: known.purged }
    await this.#db.transaction((tx) => this.#apply(tx, deletionOfInbox(body)))
    return { purged: 'atOnce' in this.#purge }
  }

  /** Purges in batches until no scope is due. */
  async purge(): Promise<void> {
    await this.#loop?.purge()
  }

  #handlers({ purge, handlers }: TenancyOptions): Handlers<TenancyTopic> {
    const ofPods: Handlers<TenancyTopic> = {
      'pod.deleted': {
        effect: (tx, { payload: { organization_id, pod_id: id, deleted_at } }) =>
          this.#apply(tx, { kind: 'pod', id, organization_id, deleted_at }),
      },
    }
    return {
      ...handlers,
      ...(('atOnce' in purge || purge.pod) && ofPods),
      'inbox.deleted': { effect: (tx, { payload }) => this.#apply(tx, deletionOfInbox(payload)) },
      'organization.deleted': {
        effect: (tx, { payload: { organization_id, deleted_at } }) =>
          this.#apply(tx, { kind: 'organization', id: organization_id, organization_id, deleted_at }),
      },
    }
  }

  async #apply(tx: Tx, deletion: Deletion): Promise<void> {
    const purge = this.#purge
    const isNew = await this.#tombstones.store(tx, deletion, 'atOnce' in purge)
    if (!isNew) return
    if ('atOnce' in purge) await purge.atOnce(tx, deletion)
    else tx.afterCommit(() => this.#loop?.notify())
  }
}
