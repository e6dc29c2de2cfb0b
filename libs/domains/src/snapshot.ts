import type { DomainState } from '@restante/contracts/events'
import type { SnapshotPage } from '@restante/messaging'
import type { ServiceClient } from '@restante/service/http'

/** Registrations in one page of the snapshot, which one transaction applies. */
const PAGE = 200
const SNAPSHOT_MS = 10_000

/** Reads the owner's registrations by their uids, in pages. */
export function snapshotOf(owner: Pick<ServiceClient, 'call'>) {
  return async (after: string | undefined): Promise<SnapshotPage<DomainState>> => {
    const request = { limit: PAGE, ...(after !== undefined && { after }) }
    const { domains, next } = await owner.call('domains-dns.snapshotDomains', request, SNAPSHOT_MS)
    return { entities: domains, next }
  }
}
