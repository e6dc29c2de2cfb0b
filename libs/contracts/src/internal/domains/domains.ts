import { z } from 'zod'
import { domainState } from '../../events/domains-state.ts'
import { defineInternal, INTERNAL, internalGroup } from '../definition/define.ts'

/** The key that signs mail of a registered domain. The service that asks keeps it in memory only. */
export const signingKey = z.object({
  domain: z.string().meta({ description: '`d=` of the signature: lower case, in ASCII.' }),
  selector: z.string(),
  private_key: z.string().meta({ description: 'RSA, PKCS #8 in PEM.' }),
})
export type SigningKey = z.infer<typeof signingKey>

/** Whether a new inbox may be on a domain (identity 8.2, domains 5). */
export const INBOX_DOMAIN_OUTCOMES = ['open', 'unknown', 'no_subdomains', 'reserved', 'not_verified'] as const

const OWNED = { ...INTERNAL, service: 'domains-dns' } as const
const name = z.string().min(1).max(253).meta({ description: 'Lower case, in A-labels.' })

/** Calls to the owner of custom domains. */
export const domainsInternalOperations = internalGroup({
  /** The pair is one per registration and never changes (domains 3), so an answer may be kept. */
  'domains-dns.getSigningKey': defineInternal({
    ...OWNED,
    id: 'domains-dns.getSigningKey',
    path: '/internal/domains/signing-key',
    callers: ['mail-send'],
    summary: 'Read the private key that signs for a registration; without `key` it is deleted or may not send',
    body: z.object({ domain_uid: z.guid() }),
    response: z.object({ key: signingKey.optional() }),
  }),
  /** Asked when an inbox is created: what the rows say now. */
  'domains-dns.findInboxDomain': defineInternal({
    ...OWNED,
    id: 'domains-dns.findInboxDomain',
    path: '/internal/domains/inbox-domain',
    callers: ['gateway'],
    summary: 'Tell whether a new inbox of an organization may be on a domain; `domain` is the registration it follows',
    body: z.object({ organization_id: z.guid(), pod_id: z.guid(), name }),
    response: z.object({ outcome: z.enum(INBOX_DOMAIN_OUTCOMES), domain: z.string().optional() }),
  }),
  'domains-dns.countDomains': defineInternal({
    ...OWNED,
    id: 'domains-dns.countDomains',
    path: '/internal/domains/count',
    callers: ['gateway'],
    summary: 'Count the live domains of an organization, or of one of its pods',
    body: z.object({ organization_id: z.guid(), pod_id: z.guid().optional() }),
    response: z.object({ count: z.int().min(0) }),
  }),
  /** A projection may say yes, never no: before mail is refused for what it lacks, the owner is asked. */
  'domains-dns.findRegistrations': defineInternal({
    ...OWNED,
    id: 'domains-dns.findRegistrations',
    path: '/internal/domains/find',
    callers: ['mail-ingest', 'mail-send'],
    summary: 'Find the live registrations of names, of all organizations; names that nobody registered are left out',
    body: z.object({ names: z.array(name).min(1).max(100) }),
    response: z.object({ domains: z.array(domainState) }),
  }),
  /** Projections of `domains.state` start here and reconcile against it daily; `after` is the `next` of a page. */
  'domains-dns.snapshotDomains': defineInternal({
    ...OWNED,
    id: 'domains-dns.snapshotDomains',
    path: '/internal/domains/snapshot',
    callers: ['mail-ingest', 'mail-send', 'metrics'],
    summary: 'Page through every live registration; no `next` on the last page',
    body: z.object({ after: z.guid().optional(), limit: z.int().min(1).max(1000) }),
    response: z.object({ domains: z.array(domainState), next: z.guid().optional() }),
  }),
})
