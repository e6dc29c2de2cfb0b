import type { TopicDefinition } from '@restante/contracts/events'
import type { ServiceName } from '@restante/contracts/vocabulary'
import type { Transactional } from '@restante/service/database'
import type { Kafka } from '../kafka/kafka.ts'
import type { Policy } from '../processing/attempts.ts'
import type { BatchHandler, Handlers, PreparedBatchHandler } from '../processing/handlers.ts'
import type { GiveWay } from './partitions/work.ts'

/** What consumers of one topic and of several have in common. */
export interface CommonOptions {
  readonly kafka: Kafka
  readonly db: Transactional
  readonly service: ServiceName
  /** How many transactions run at once. Default 8 for single events, and 2 for batches. */
  readonly concurrency?: number
  /**
   * How long a fetch may wait for more records, so that more events share a transaction. Only for events whose effect is not
   * urgent. Default 0: a fetch ends with the first record.
   */
  readonly gatherMs?: number
  /** How often an event that fails deterministically is tried before it is dead-lettered. Default 5. */
  readonly attempts?: number
  /** Records that a partition holds before it is paused. Default 1,000; never more than 16 MB of values. */
  readonly inFlight?: number
  /**
   * Without a heartbeat for this long the group reassigns the partitions: the delay that a killed process causes.
   * Default 10 s.
   */
  readonly sessionTimeoutMs?: number
  /** Interval of the heartbeats by which a member learns of rebalances. Default 2 s. */
  readonly heartbeatMs?: number
  /**
   * How long work in progress may take when partitions are revoked, or on stop. Default a third of the session timeout.
   */
  readonly drainMs?: number
  /** Waits while the infrastructure is down. Default 400 ms to 3 s. */
  readonly infrastructureBackoff?: Policy['infrastructure']
}

/** Batches of events that need no order, so that fresh ones need not wait for a backlog. */
export interface Overtaking {
  /** Holds late events up while others would wait behind them. */
  readonly giveWay: GiveWay
}

interface Batches {
  readonly batch: BatchHandler | PreparedBatchHandler
  /**
   * While a partition is late, its newest records are handled ahead of the older ones, by the same handler and with the same
   * marks. Default: never, everything is handled in its order.
   */
  readonly overtaking?: Overtaking
}

/** One topic with a handler per event type or one for batches of all types, or several topics with one for batches. */
export type ConsumerOptions<T extends TopicDefinition> = CommonOptions &
  (
    | { readonly topic: T; readonly handlers: Handlers<T> }
    | ({ readonly topic: T } & Batches)
    | ({
        readonly topics: readonly T[]
        /** Name of the topics together, in the name of the group. */
        readonly name: string
      } & Batches)
  )
