import { z } from 'zod'
import { type ServiceName, STORING_SERVICES } from '../vocabulary/services.ts'
import { defineInternal, INTERNAL } from './definition/define.ts'

/**
 * What each service checks when the operator asks (`npm run admin -- check`), in the order in which it is asked. The gateway
 * checks itself, because the command has its database. websocket-fanout is not listed: its log expires after a day.
 */
export const CHECKS = {
  'mail-send': ['outbox', 'outcomes', 'events', 'domains', 'bytes', 'files', 'blobs', 'copies', 'timers', 'drafts'],
  'mail-ingest': ['outbox', 'events', 'domains', 'lists', 'bytes', 'blobs'],
  'webhooks-dispatcher': ['events', 'timers'],
  'domains-dns': ['outbox', 'events'],
  'apps-signin': ['outbox', 'events'],
  calendar: ['outbox', 'events'],
  metrics: ['events'],
} as const satisfies Partial<Record<ServiceName, readonly string[]>>

export type CheckedService = keyof typeof CHECKS
export type CheckOf<S extends CheckedService> = (typeof CHECKS)[S][number]
export type CheckName = CheckOf<CheckedService>

/** The services that are asked, in this order. */
export const CHECKED_SERVICES: readonly CheckedService[] = [
  'mail-send',
  'mail-ingest',
  'webhooks-dispatcher',
  'domains-dns',
  'apps-signin',
  'calendar',
  'metrics',
]

/** What can be put back from a backup on its own: the database of a service, or the object store. */
export const RESTORABLE = [...STORING_SERVICES, 'objects'] as const
export type Restorable = (typeof RESTORABLE)[number]

const checkRequest = z.object({
  check: z.string().meta({ description: 'One of those that the service has.' }),
  repair: z.boolean().meta({ description: 'False: report only.' }),
  restored: z
    .array(z.enum(RESTORABLE))
    .max(RESTORABLE.length)
    .meta({ description: 'What was put back from a backup: it lost what came later.' }),
  since: z.iso.datetime().optional().meta({ description: 'The time of that backup.' }),
  delete_orphans: z.boolean().meta({ description: 'Whether a repair deletes bytes that no row refers to.' }),
  after: z.string().optional().meta({ description: 'The `next` of the previous page.' }),
  operator: z.string().min(1).meta({ description: 'Who asked for it, for the log.' }),
})
export type CheckRequest = z.infer<typeof checkRequest>

const finding = z.object({
  subject: z.string().meta({ description: 'What it is about: an id, a name, a position.' }),
  problem: z.string(),
  state: z.enum(['open', 'waiting', 'repaired']).meta({
    description: '`waiting`: it ends by itself. `repaired`: by this call. `open`: it stays, see `advice`.',
  }),
  advice: z.string().optional(),
})
export type Finding = z.infer<typeof finding>

const checkPage = z.object({
  examined: z.int().min(0),
  findings: z.array(finding),
  next: z.string().optional().meta({ description: 'Absent on the last page.' }),
})
export type CheckPage = z.infer<typeof checkPage>

/** One page of a check. Repeating it has one effect. */
export type Check = (request: CheckRequest) => Promise<CheckPage>

function checkOperation<const S extends CheckedService>(service: S) {
  return defineInternal({
    ...INTERNAL,
    id: `${service}.check` as const,
    path: `/internal/checks/${service}`,
    service,
    callers: ['gateway'],
    summary: 'Look for inconsistencies with other stores, a page at a time, and repair them on request; repeatable',
    body: checkRequest,
    response: checkPage,
  })
}

/** Asked by the operator's command line. */
export const checkOperations = {
  'mail-send.check': checkOperation('mail-send'),
  'mail-ingest.check': checkOperation('mail-ingest'),
  'webhooks-dispatcher.check': checkOperation('webhooks-dispatcher'),
  'domains-dns.check': checkOperation('domains-dns'),
  'apps-signin.check': checkOperation('apps-signin'),
  'calendar.check': checkOperation('calendar'),
  'metrics.check': checkOperation('metrics'),
}
