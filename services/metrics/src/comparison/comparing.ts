import type { Kafka } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import type { Lease } from '../leading/lease.ts'
import type { Followed } from '../tenancy/open-tenancy.ts'

/** What comparisons need. */
export interface ComparingOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
  readonly peers: {
    readonly gateway: Pick<ServiceClient, 'call'>
    readonly mailIngest: Pick<ServiceClient, 'call'>
    readonly mailSend: Pick<ServiceClient, 'call'>
    readonly domainsDns: Pick<ServiceClient, 'call'>
  }
  /** The consumers that count. */
  readonly consumers: readonly Followed[]
  /** Between two measurements of what seems to differ. Default a minute. */
  readonly spacedMs?: number
}

/** A comparison that runs. */
export type Comparing = ComparingOptions & { readonly lease: Lease; readonly comparison: number }

/** How long an owner may take for a page. */
export const PAGE_MS = 20_000
