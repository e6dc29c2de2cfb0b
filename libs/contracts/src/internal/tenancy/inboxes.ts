import { z } from 'zod'
import { defineInternal, INTERNAL } from '../definition/define.ts'
import type { PurgingService } from './purge.ts'

/** An inbox as a service knows it. */
const listedInbox = z.object({
  inbox_uid: z.guid(),
  organization_id: z.guid(),
  pod_id: z.guid().optional(),
  address: z.string().optional().meta({ description: 'Absent where the service does not store it.' }),
})
export type ListedInbox = z.infer<typeof listedInbox>

function listInboxes<const S extends PurgingService>(service: S) {
  return defineInternal({
    ...INTERNAL,
    id: `${service}.listInboxes` as const,
    path: `/internal/list-inboxes/${service}`,
    service,
    callers: ['gateway'],
    summary: 'Page through the inboxes that the service has data of, or knows to be deleted',
    body: z.object({
      state: z.enum(['held', 'deleted']),
      after: z.string().optional().meta({ description: 'The `next` of the previous page.' }),
      limit: z.int().min(1).max(1_000),
    }),
    response: z.object({ inboxes: z.array(listedInbox), next: z.string().optional() }),
  })
}

/** Asked by the operator's command line, which compares them with the inboxes of the gateway. */
export const listInboxesOperations = {
  'mail-ingest.listInboxes': listInboxes('mail-ingest'),
  'mail-send.listInboxes': listInboxes('mail-send'),
  'webhooks-dispatcher.listInboxes': listInboxes('webhooks-dispatcher'),
  'apps-signin.listInboxes': listInboxes('apps-signin'),
  'calendar.listInboxes': listInboxes('calendar'),
  'metrics.listInboxes': listInboxes('metrics'),
}
