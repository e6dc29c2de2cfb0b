import type { Caller } from '@restante/contracts/access'
import type { RequestOf } from '@restante/contracts/operations'
import { ApiError, invalid } from '@restante/service/errors'

type CreateBody = RequestOf<'webhooks.create'>['body']

/** The scope that a webhook belongs to: the effective scope of the request that creates it (events 7.2). */
export interface Home {
  readonly podId: string | undefined
  readonly inbox: { readonly uid: string; readonly address: string } | undefined
}

/** A pod's webhook has its pod; an inbox's has its inbox and that inbox's pod; an organization's has neither. */
export function homeOf(caller: Caller): Home {
  if (caller.inbox)
    return { podId: caller.inbox.pod_id, inbox: { uid: caller.inbox.uid, address: caller.inbox.address } }
  return { podId: caller.pod_id, inbox: undefined }
}

/**
 * Refuses filters that the scope fixes (events 7.3).
 * @throws ApiError 400 at the field; 403 `forbidden` when an inbox's own key names pods.
 */
export function requireFreeFilters(caller: Caller, body: Pick<CreateBody, 'inbox_ids' | 'pod_ids'>): void {
  if (body.pod_ids && caller.credential.tier === 'inbox') {
    throw new ApiError('forbidden', { fix: 'A key of an inbox can create webhooks for its own inbox only.' })
  }
  if (body.inbox_ids && caller.inbox)
    throw invalid(['inbox_ids'], 'A webhook of an inbox is always about that inbox; omit inbox_ids')
  if (body.pod_ids && (caller.inbox || caller.pod_id !== undefined)) {
    throw invalid(['pod_ids'], 'This route fixes the pod; omit pod_ids')
  }
}
