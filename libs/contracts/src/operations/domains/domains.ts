import { z } from 'zod'
import { BASE, BYTES, define, group, idParam, VOID } from '../../definition/define.ts'
import { domain, domainItem, setupLink } from '../../resources/domain.ts'
import { PAGE } from '../../resources/page.ts'
import { orderedPageQuery } from '../../schemas/query.ts'
import { clientId } from '../../schemas/text.ts'

const DOMAIN = {
  service: 'domains-dns',
  prefixes: ['organization', 'pod'],
  tiers: ['organization', 'pod'],
} as const

const params = z.object({ domain_id: idParam })

/** What an owner switches on and off (domains 2.2). */
const switches = {
  feedback_enabled: z.boolean().optional(),
  inbound_enabled: z.boolean().optional(),
  subdomains_enabled: z.boolean().optional(),
  tracking_enabled: z.boolean().optional(),
}

/** Custom domains (domains 2). Below a pod's path only the domains of this pod exist. */
export const domainOperations = group({
  'domains.create': define({
    ...BASE,
    ...DOMAIN,
    id: 'domains.create',
    method: 'POST',
    path: '/domains',
    permission: 'domain_create',
    summary: 'Register a domain; its records are to be published in DNS',
    errors: [
      'already_exists',
      'resource_taken',
      'limit_exceeded',
      'conflict',
      'resource_deleting',
      'unprocessable',
      'service_unavailable',
    ],
    body: z.object({
      domain: z.string().meta({ description: 'Name of the domain; letters outside ASCII are encoded.' }),
      allow_conflicting_provider: z.boolean().optional().meta({
        description: 'Register it although its MX records name a mailbox provider. Default: false.',
      }),
      ...switches,
      client_id: clientId.optional(),
    }),
    response: domain,
  }),
  'domains.list': define({
    ...BASE,
    ...DOMAIN,
    id: 'domains.list',
    method: 'GET',
    path: '/domains',
    permission: 'domain_read',
    summary: 'List domains, newest first, without their records',
    query: z.object(orderedPageQuery),
    response: z.object({ ...PAGE, domains: z.array(domainItem) }),
  }),
  'domains.get': define({
    ...BASE,
    ...DOMAIN,
    id: 'domains.get',
    method: 'GET',
    path: '/domains/{domain_id}',
    permission: 'domain_read',
    summary: 'Get a domain by name or client_id, with its records and what DNS said of them',
    params,
    response: domain,
  }),
  'domains.update': define({
    ...BASE,
    ...DOMAIN,
    id: 'domains.update',
    method: 'PATCH',
    path: '/domains/{domain_id}',
    permission: 'domain_update',
    summary: 'Switch parts of a domain on or off; needed records join its records',
    errors: ['race_condition', 'unprocessable', 'service_unavailable'],
    params,
    body: z.object(switches).refine((given) => Object.values(given).some((value) => value !== undefined), {
      error: 'Give at least one of feedback_enabled, inbound_enabled, subdomains_enabled, tracking_enabled',
    }),
    response: domain,
  }),
  'domains.delete': define({
    ...BASE,
    ...DOMAIN,
    id: 'domains.delete',
    method: 'DELETE',
    path: '/domains/{domain_id}',
    permission: 'domain_delete',
    summary: 'Delete a domain; its inboxes stay readable and neither send nor receive',
    params,
    ...VOID,
  }),
  'domains.verify': define({
    ...BASE,
    ...DOMAIN,
    id: 'domains.verify',
    method: 'POST',
    path: '/domains/{domain_id}/verify',
    permission: 'domain_update',
    summary: 'Check the records of a domain now; get the domain to see the result',
    errors: ['race_condition', 'unprocessable', 'service_unavailable'],
    params,
    body: z.object({}),
    ...VOID,
  }),
  'domains.getZoneFile': define({
    ...BASE,
    ...DOMAIN,
    id: 'domains.getZoneFile',
    method: 'GET',
    path: '/domains/{domain_id}/zone-file',
    permission: 'domain_read',
    summary: 'Download the records of a domain as lines of a BIND zone file',
    params,
    ...BYTES,
  }),
  'domains.getSetupLink': define({
    ...BASE,
    ...DOMAIN,
    id: 'domains.getSetupLink',
    method: 'GET',
    path: '/domains/{domain_id}/setup-link',
    permission: 'domain_read',
    summary: 'Get a link that publishes the records at the DNS provider (Domain Connect)',
    errors: ['conflict', 'unprocessable'],
    params,
    response: setupLink,
  }),
})
