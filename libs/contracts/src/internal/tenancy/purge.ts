import { z } from 'zod'
import type { ServiceName } from '../../vocabulary/services.ts'
import { defineInternal, INTERNAL } from '../definition/define.ts'

/**
 * Services that store data of an inbox until it is deleted. An address is free again when each of them has purged its
 * data (identity 10.2); a service that is added here is asked from then on. websocket-fanout is not listed:
 * its log expires after a day.
 */
export const PURGING_SERVICES = [
  'mail-ingest',
  'mail-send',
  'webhooks-dispatcher',
  'apps-signin',
  'calendar',
  'metrics',
] as const satisfies readonly ServiceName[]
export type PurgingService = (typeof PURGING_SERVICES)[number]

/** A deleted inbox, as in its event. */
const deletedInbox = z.object({
  organization_id: z.guid(),
  pod_id: z.guid(),
  inbox_uid: z.guid(),
  address: z.string(),
  deleted_at: z.iso.datetime(),
})
export type DeletedInbox = z.infer<typeof deletedInbox>

/** Polled until the inbox is purged. It also delivers the deletion to a service that has not consumed its event yet. */
const PURGE = {
  ...INTERNAL,
  callers: ['gateway'],
  summary: 'Tell whether everything of a deleted inbox is purged, apart from what stays',
  body: deletedInbox,
  response: z.object({ purged: z.boolean() }),
} as const

/** The operation that asks a service to purge; every purging service has one. */
function purgeInbox<const S extends PurgingService>(service: S) {
  return defineInternal({
    ...PURGE,
    id: `${service}.purgeInbox` as const,
    path: `/internal/purge-inbox/${service}`,
    service,
  })
}

type PurgeOperations = { readonly [S in PurgingService as `${S}.purgeInbox`]: ReturnType<typeof purgeInbox<S>> }

function isComplete(
  operations: Readonly<Record<string, ReturnType<typeof purgeInbox>>>,
): operations is PurgeOperations {
  return PURGING_SERVICES.every((service) => operations[`${service}.purgeInbox`]?.service === service)
}

function derived(): PurgeOperations {
  const operations = Object.fromEntries(PURGING_SERVICES.map(purgeInbox).map((operation) => [operation.id, operation]))
  if (!isComplete(operations)) throw new Error('a purging service has no operation')
  return operations
}

export const purgeOperations = derived()
