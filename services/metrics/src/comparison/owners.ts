import { UpstreamError } from '@restante/service/errors'
import { type Comparing, PAGE_MS } from './comparing.ts'

/** What is stored in an inbox, in the order of `STORED`. */
export type Amounts = readonly [bytes: number, messages: number, threads: number]

export interface StoredInbox {
  readonly id: string
  readonly organizationId: string
  readonly podId: string | undefined
  readonly amounts: Amounts
}

/** The counts of the owners of the inboxes after one and up to another. */
export interface OwnerRange {
  readonly after: string
  /** Undefined: to the end. */
  readonly until: string | undefined
  /** The inboxes in which something is stored, by their ids. */
  readonly inboxes: ReadonlyMap<string, StoredInbox>
  /** Between these times the owners have counted, in milliseconds since 1970. */
  readonly from: number
  readonly to: number
}

/** An event that is on its way for longer could be missing in each of several measurements. */
const LATE_MS = 10_000

/**
 * Asks the owners of messages and of drafts for the inboxes after one; the range ends where the first of them has more.
 * @throws UpstreamError when an owner does not answer, or its events are late.
 */
export async function askOwners({ peers }: Comparing, after: string, limit: number): Promise<OwnerRange> {
  const request = { after, limit }
  const [mail, drafts] = await Promise.all([
    peers.mailIngest.call('mail-ingest.countMailboxes', request, PAGE_MS),
    peers.mailSend.call('mail-send.countDrafts', request, PAGE_MS),
  ])
  for (const { at, unpublished_since: since = at } of [mail, drafts])
    if (Date.parse(at) - Date.parse(since) > LATE_MS) throw new UpstreamError('events of an owner are not in Kafka yet')
  const [until] = [mail.next, drafts.next].filter((next) => next !== undefined).sort()
  const inboxes = new Map<string, StoredInbox>()
  const add = (scope: ScopeOfMail, [bytes, messages, threads]: Amounts) => {
    const id = scope.inbox_uid
    if (until !== undefined && id > until) return
    const [before, messagesBefore, threadsBefore] = inboxes.get(id)?.amounts ?? [0, 0, 0]
    inboxes.set(id, {
      id,
      organizationId: scope.organization_id,
      podId: scope.pod_id,
      amounts: [before + bytes, messagesBefore + messages, threadsBefore + threads],
    })
  }
  for (const { bytes, messages, threads, ...scope } of mail.mailboxes) add(scope, [bytes, messages, threads])
  for (const { bytes, ...scope } of drafts.inboxes) add(scope, [bytes, 0, 0])
  const times = [Date.parse(mail.at), Date.parse(drafts.at)]
  return { after, until, inboxes, from: Math.min(...times), to: Math.max(...times) }
}

interface ScopeOfMail {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
}
