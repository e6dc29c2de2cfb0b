import { z } from 'zod'
import type { ServiceName } from '../services.ts'
import { defineInternal, INTERNAL, internalGroup } from './define.ts'

/**
 * Services that keep something of an inbox until it is deleted. An address is free again when each of them has purged
 * what it had (identity 10.2); a service that is added here is asked from then on. The live streams keep only a log that
 * ends by itself after a day.
 */
export const PURGING_SERVICES = [
  'mail-ingest',
  'mail-send',
  'webhooks-dispatcher',
] as const satisfies readonly ServiceName[]
export type PurgingService = (typeof PURGING_SERVICES)[number]

/** A deleted inbox, as its event tells of it. */
const deletedInbox = z.object({
  organization_id: z.guid(),
  pod_id: z.guid(),
  inbox_uid: z.guid(),
  address: z.string(),
  deleted_at: z.iso.datetime(),
})
export type DeletedInbox = z.infer<typeof deletedInbox>

/** Asked again and again until it is purged; who has not heard of the deletion yet hears of it now. */
const PURGE = {
  ...INTERNAL,
  callers: ['gateway'],
  summary: 'Tell whether everything of a deleted inbox is purged, apart from what stays',
  body: deletedInbox,
  response: z.object({ purged: z.boolean() }),
} as const

export const purgeOperations = internalGroup({
  'mail-ingest.purgeInbox': defineInternal({
    ...PURGE,
    id: 'mail-ingest.purgeInbox',
    path: '/internal/mailboxes/purge',
    service: 'mail-ingest',
  }),
  'mail-send.purgeInbox': defineInternal({
    ...PURGE,
    id: 'mail-send.purgeInbox',
    path: '/internal/sends/purge',
    service: 'mail-send',
  }),
  'webhooks-dispatcher.purgeInbox': defineInternal({
    ...PURGE,
    id: 'webhooks-dispatcher.purgeInbox',
    path: '/internal/webhooks/purge',
    service: 'webhooks-dispatcher',
  }),
})
