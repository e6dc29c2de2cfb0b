import type { BlobStore } from '@restante/blobs'
import type { Kafka, Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { Tenancy } from '@restante/tenancy'
import { deleteEarlierEntries } from '../lists/entries.ts'
import { SendPurge } from './purge.ts'

export interface OpenTenancyOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
  readonly outbox: Outbox
  readonly blobs: BlobStore
}

/** A deletion removes what is kept for an inbox, a pod or an organization; a confirmed take-over, what earlier keys made. */
export function openTenancy({ kafka, db, log, outbox, blobs }: OpenTenancyOptions): Tenancy {
  return new Tenancy({
    service: 'mail-send',
    kafka,
    db,
    log,
    purge: new SendPurge(blobs),
    handlers: {
      'organization.taken_over': {
        effect: async (tx, { payload }) => {
          if (payload.verified) await deleteEarlierEntries(tx, outbox, payload)
        },
      },
    },
  })
}
