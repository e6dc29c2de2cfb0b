import {
  type CheckPage,
  type Finding,
  type InternalResponseOf,
  type ListedInbox,
  PURGING_SERVICES,
  type PurgingService,
} from '@restante/contracts/internal'
import { sql } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Db } from '../../storage/database.ts'
import type { CheckOptions } from './request.ts'
import type { Restoring } from './restoring.ts'

const PAGE = 500
const LIST_MS = 15_000

const KNOWN = sql<{ uid: string; live: boolean }, [uids: readonly string[]]>(
  'select uid, deleted_at is null as live from inboxes where uid = any($1::uuid[])',
)

interface Options {
  readonly db: Db
  readonly restoring: Restoring
  readonly peer: (service: PurgingService) => Pick<ServiceClient<'gateway'>, 'call'>
}

/**
 * Compares the inboxes that a service has data of, and those that it knows to be deleted, with those of the gateway. Which
 * of the two is right depends on what was put back from a backup: so data is deleted only when the operator says so, and
 * inboxes are created or deleted here only when it was the gateway.
 */
export async function* compareInboxes(
  service: PurgingService,
  options: Options,
  asked: CheckOptions,
): AsyncGenerator<CheckPage> {
  for (const state of ['held', 'deleted'] as const) {
    for await (const inboxes of pagesOf(service, options, state)) {
      const uids = inboxes.map(({ inbox_uid }) => inbox_uid)
      const known = new Map((await options.db.query(KNOWN, uids)).map(({ uid, live }) => [uid, live]))
      const findings: Finding[] = []
      for (const inbox of inboxes) {
        const live = known.get(inbox.inbox_uid)
        if (state === 'held' && live === undefined) findings.push(await unknown(service, options, asked, inbox))
        if (state === 'deleted' && live === true) findings.push(await revived(service, options, asked, inbox))
      }
      yield { examined: inboxes.length, findings }
    }
  }
}

async function* pagesOf(
  service: PurgingService,
  { peer }: Options,
  state: 'held' | 'deleted',
): AsyncGenerator<readonly ListedInbox[]> {
  for (let after: string | undefined, last = false; !last; ) {
    const request = { state, limit: PAGE, ...(after !== undefined && { after }) }
    const page: InternalResponseOf<`${PurgingService}.listInboxes`> = await peer(service).call(
      `${service}.listInboxes`,
      request,
      LIST_MS,
    )
    yield page.inboxes
    after = page.next
    last = after === undefined
  }
}

async function unknown(
  service: PurgingService,
  { restoring, peer }: Options,
  { repair, restored, deleteUnknown }: CheckOptions,
  inbox: ListedInbox,
): Promise<Finding> {
  const subject = `${inbox.inbox_uid} ${inbox.address ?? ''}`.trimEnd()
  const problem = `${service} has data of it, and the gateway does not know it`
  if (repair && deleteUnknown) {
    const { organization_id, pod_id = organization_id, inbox_uid, address = '' } = inbox
    const deletion = { organization_id, pod_id, inbox_uid, address, deleted_at: new Date().toISOString() }
    await peer(service).call(`${service}.purgeInbox`, deletion, LIST_MS)
    return { subject, problem, state: 'repaired' }
  }
  if (repair && restored.includes('gateway')) {
    const obstacle = await restoring.createInbox(inbox)
    if (obstacle === undefined) return { subject, problem, state: 'repaired' }
    return { subject, problem, state: 'open', advice: `it cannot be created again: ${obstacle}` }
  }
  const advice =
    'if the gateway was put back from a backup, --repair --restored gateway creates it again; otherwise its deletion was lost, and --repair --delete-unknown deletes its data'
  return { subject, problem, state: 'open', advice }
}

async function revived(
  service: PurgingService,
  { restoring }: Options,
  { repair, restored }: CheckOptions,
  { inbox_uid, organization_id }: ListedInbox,
): Promise<Finding> {
  const problem = `it was deleted, as ${service} knows, and exists again at the gateway: its mail is discarded`
  if (repair && restored.includes('gateway')) {
    await restoring.deleteInbox(inbox_uid, organization_id)
    return { subject: inbox_uid, problem, state: 'repaired' }
  }
  const advice = '--repair --restored gateway deletes it again'
  return { subject: inbox_uid, problem, state: 'open', advice }
}

/** The services whose inboxes are compared: first the one that knows addresses. */
export const COMPARED_SERVICES: readonly PurgingService[] = PURGING_SERVICES
