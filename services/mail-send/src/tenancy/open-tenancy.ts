import type { BlobStore } from '@restante/blobs'
import type { Schedule } from '@restante/jobs'
import type { Kafka, Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { Tenancy } from '@restante/tenancy'
import { deleteEarlierDrafts } from '../drafts/state/take-over.ts'
import { deleteEarlierEntries } from '../lists/entries.ts'
import { takeOvers } from '../take-overs/table.ts'
import type { SendTimers } from '../timers/kinds.ts'
import { SendPurge } from './purge.ts'

export interface OpenTenancyOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
  readonly outbox: Outbox
  readonly blobs: BlobStore
  readonly timers: Schedule<SendTimers>
}

/** A deletion removes what is kept for an inbox, a pod or an organization; a confirmed take-over, what earlier keys made. */
export function openTenancy({ kafka, db, log, outbox, blobs, timers }: OpenTenancyOptions): Tenancy {
  return new Tenancy({
    service: 'mail-send',
    kafka,
    db,
    log,
    purge: new SendPurge(blobs, timers),
    handlers: {
      'organization.taken_over': {
        effect: async (tx, { payload }) => {
          if (!payload.verified) return
          await takeOvers.record(tx, payload.organization_id, payload.take_overs)
          await deleteEarlierEntries(tx, outbox, payload)
          await deleteEarlierDrafts(tx, { outbox, timers }, payload)
        },
      },
    },
  })
}
