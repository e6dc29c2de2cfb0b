import { ApiError } from '@restante/service/errors'
import type { Actor } from '../audit/actor.ts'
import { revokeCredentials } from '../credentials/store.ts'
import type { Pod } from '../generated/prisma/client.ts'
import { countInboxes } from '../inboxes/store.ts'
import { markPodDeleted } from '../pods/store.ts'
import type { Tx } from '../storage/database.ts'
import { podDeleted, type TenancyEvents } from '../tenancy/events.ts'

/** A pod to delete. */
export interface LeavingPod {
  readonly row: Pod
  /** How many domains it holds, as their owner last said. */
  readonly domains: number
}

/**
 * Deletes a pod whose organization and row are locked, with its keys (identity 7). Creating an inbox or a key in a pod
 * locks the organization as well, so none is added concurrently. A domain may be; its owner deletes it with the pod.
 * @throws ApiError 409 for the default pod, and for one that is not empty.
 */
export async function deletePod(
  tx: Tx,
  events: TenancyEvents,
  { row, domains }: LeavingPod,
  actor: Actor,
  now: Date,
): Promise<void> {
  if (row.id === row.organizationId) {
    throw new ApiError('cannot_delete', { message: 'The default pod cannot be deleted', fix: 'Rename it instead.' })
  }
  refuseContents([
    { count: await countInboxes(tx, row.id), one: 'inbox', many: 'inboxes' },
    { count: domains, one: 'domain', many: 'domains' },
  ])
  await markPodDeleted(tx, row.id, now)
  await revokeCredentials(tx, events, { podId: row.id }, { actor, now, because: 'pod deleted' })
  await events.record(tx, podDeleted(row, now))
}

interface Content {
  readonly count: number
  readonly one: string
  readonly many: string
}

function refuseContents(contents: readonly Content[]): void {
  const held = contents.filter(({ count }) => count > 0)
  if (held.length === 0) return
  const counted = held.map(({ count, one, many }) => `${count} ${count === 1 ? one : many}`)
  throw new ApiError('cannot_delete', {
    message: `The pod still holds ${counted.join(' and ')}`,
    fix: `Delete its ${held.map(({ many }) => many).join(' and ')} first.`,
  })
}
