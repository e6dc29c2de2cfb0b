import type { Schedule } from '@restante/jobs'
import type { Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Certificates } from '../certificates/open-certificates.ts'
import type { CheckTimers } from '../checks/timers.ts'
import { findConflictingProvider } from '../providers/conflict.ts'
import { trackingHostOf } from '../records/expected.ts'
import type { Installation } from '../records/installation.ts'

/** What operations that change domains need. */
export interface ChangeOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly timers: Schedule<CheckTimers>
  readonly certificates: Pick<Certificates, 'drop'>
  readonly gateway: ServiceClient<'domains-dns'>
  readonly dns: Parameters<typeof findConflictingProvider>[0]
  readonly providers: Parameters<typeof findConflictingProvider>[2]
  readonly installation: Installation
}

/** The mailbox provider that has the mail of a domain (domains 6). */
export function findProvider({ dns, providers }: ChangeOptions, name: string): Promise<string | undefined> {
  return findConflictingProvider(dns, name, providers)
}

/** Number of inboxes where the images of a domain would be served from (domains 4). */
export async function countTrackingInboxes(
  { gateway }: ChangeOptions,
  organizationId: string,
  name: string,
): Promise<number> {
  const { count } = await gateway.call('gateway.countInboxesOn', {
    organization_id: organizationId,
    domain: trackingHostOf(name),
    itself: true,
    except: [],
  })
  return count
}
