import { type Topic, topics } from '@restante/contracts/events'
import type { DeletedInbox, PurgingService } from '@restante/contracts/internal'
import { Consumer, type Handlers, type Kafka } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { type PurgeInBatches, PurgeLoop, purgeBacklog } from './purge.ts'
import { TombstoneSweeper } from './tombstone-sweeper.ts'
import { type DeletedScope, type Deletion, deletionOfInbox, findTombstone, Tombstones } from './tombstones.ts'

/** How a service purges in the transaction that stores the tombstone, where it stores little of a scope. */
export interface PurgeAtOnce {
  /** Deletes everything of a deleted inbox, pod or organization. Called once for each, under the lock of its tombstone. */
  atOnce(tx: Tx, scope: DeletedScope): Promise<void>
}

type TenancyTopic = Topic<'tenancy'>

/** Handlers of events other than those that store tombstones. */
type OtherHandlers = Omit<Handlers<TenancyTopic>, 'inbox.deleted' | 'pod.deleted' | 'organization.deleted'>

export interface TenancyOptions {
  readonly service: PurgingService
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
  /** How the service deletes its data; deletions of pods reach a service that purges at once. */
  readonly purge: PurgeInBatches | PurgeAtOnce
  /** Default: tombstones under the lock of `holdInbox`, without addresses. */
  readonly tombstones?: Tombstones
  /** What else the service does with events of the topic: they join the same consumer. */
  readonly handlers?: OtherHandlers
}

/**
 * Follows the deletions of inboxes, pods and organizations: consumes their events, stores their tombstones, purges what
 * the service stores of them, reports the backlog, and answers the owner's question whether an inbox is purged. Deletions
 * are final, so their order among other events does not matter.
 */
export class Tenancy implements Component {
  readonly name = 'tenancy'
  readonly stage = 'work'
  readonly consumer: Consumer<TenancyTopic>
  /** The topics that it takes events from. */
  readonly topics: readonly TenancyTopic[]
  readonly #db: Database
  readonly #purge: PurgeInBatches | PurgeAtOnce
  readonly #tombstones: Tombstones
  readonly #loop: PurgeLoop | undefined
  /** In the order in which they start. */
  readonly #parts: readonly Required<Pick<Component, 'start' | 'stop'>>[]

  constructor(options: TenancyOptions) {
    const { service, kafka, db, log, purge, tombstones = new Tombstones() } = options
    this.#db = db
    this.#purge = purge
    this.#tombstones = tombstones
    this.consumer = new Consumer({ kafka, db, service, topic: topics.tenancy, handlers: this.#handlers(options) })
    this.topics = this.consumer.topics
    this.#loop = 'atOnce' in purge ? undefined : new PurgeLoop({ db, log, batches: purge })
    const purging = this.#loop ? [this.#loop, purgeBacklog(db, log)] : []
    this.#parts = [...purging, new TombstoneSweeper({ db, log }), this.consumer]
  }

  async start(): Promise<void> {
    for (const part of this.#parts) await part.start()
  }

  working(): Promise<void> {
    return this.consumer.working()
  }

  /** Waits for the events and the batch that are being processed. */
  async stop(): Promise<void> {
    for (const part of this.#parts.toReversed()) await part.stop()
  }

  /**
   * Handles `<service>.purgeInbox`: whether everything of a deleted inbox is purged. A service that has not consumed the
   * deletion yet learns of it here. It works in processes that do not run this component, too.
   */
  readonly purgeInbox = async ({ body }: { readonly body: DeletedInbox }): Promise<{ purged: boolean }> => {
    const known = await findTombstone(this.#db, body.inbox_uid)
    if (known) return { purged: known.purged }
    await this.#db.transaction((tx) => this.#follow(tx, deletionOfInbox(body)))
    return { purged: 'atOnce' in this.#purge }
  }

  /** Purges in batches until nothing more can be purged now. */
  async purge(): Promise<void> {
    await this.#loop?.purge()
  }

  #handlers({ purge, handlers }: TenancyOptions): Handlers<TenancyTopic> {
    const ofPods: Handlers<TenancyTopic> = {
      'pod.deleted': {
        effect: (tx, { payload: { organization_id, pod_id: id, deleted_at } }) =>
          this.#follow(tx, { kind: 'pod', id, organization_id, deleted_at }),
      },
    }
    return {
      ...handlers,
      ...('atOnce' in purge && ofPods),
      'inbox.deleted': { effect: (tx, { payload }) => this.#follow(tx, deletionOfInbox(payload)) },
      'organization.deleted': {
        effect: (tx, { payload: { organization_id, deleted_at } }) =>
          this.#follow(tx, { kind: 'organization', id: organization_id, organization_id, deleted_at }),
      },
    }
  }

  async #follow(tx: Tx, deletion: Deletion): Promise<void> {
    const purge = this.#purge
    const isNew = await this.#tombstones.store(tx, deletion, 'atOnce' in purge)
    if (!isNew) return
    if ('atOnce' in purge) await purge.atOnce(tx, deletion)
    else tx.afterCommit(() => this.#loop?.notify())
  }
}
