import type { Kafka, Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { Tenancy } from '@restante/tenancy'
import type { RawMailBytes } from '../raw/bytes.ts'
import { LabelRemoval, orderLabelRemoval } from './label-removal.ts'
import { MailPurge } from './purge.ts'
import { scopeTombstones } from './tombstones.ts'

export interface OpenTenancyOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
  readonly outbox: Outbox
  readonly bytes: RawMailBytes
}

/** The components that act on events of the topic `tenancy`. */
export interface MailTenancy {
  readonly tenancy: Tenancy
  readonly labelRemoval: LabelRemoval
}

/** Applies deletions, after which an inbox accepts nothing, and removes earlier labels after a confirmed take-over. */
export function openTenancy({ kafka, db, log, outbox, bytes }: OpenTenancyOptions): MailTenancy {
  const labelRemoval = new LabelRemoval({ db, outbox, log })
  const tenancy = new Tenancy({
    service: 'mail-ingest',
    kafka,
    db,
    log,
    tombstones: scopeTombstones,
    purge: new MailPurge({ bytes, outbox }),
    handlers: {
      'organization.taken_over': {
        async effect(tx, { payload }) {
          if (!payload.verified) return
          await orderLabelRemoval(tx, payload)
          tx.afterCommit(labelRemoval.notify)
        },
      },
    },
  })
  return { tenancy, labelRemoval }
}
