import { z } from 'zod'
import { verificationRecord } from '../../resources/domain.ts'
import { DOMAIN_REASONS, DOMAIN_STATUSES } from '../../vocabulary/domains.ts'
import { defineInternal, INTERNAL, internalGroup } from '../definition/define.ts'

const FROM_OPERATOR = { ...INTERNAL, callers: ['gateway'] } as const
const domain_uid = z.guid()
const operator = z.string().min(1).meta({ description: 'Who asked for it, for the log.' })
const at = z.iso.datetime()

/** A registration, as the operator sees it. */
const operatorDomain = z.object({
  domain_uid,
  organization_id: z.guid(),
  pod_id: z.guid().optional(),
  domain: z.string(),
  status: z.enum(DOMAIN_STATUSES),
  reason: z.enum(DOMAIN_REASONS).optional(),
  sending_ready: z.boolean(),
  verified_at: at.optional().meta({ description: 'When it was last found verified.' }),
  lost_at: at.optional().meta({ description: 'When another organization proved the name.' }),
  barred_at: at.optional().meta({ description: 'When the operator barred it from sending.' }),
  checked_at: at.optional(),
  created_at: at,
})
export type OperatorDomain = z.infer<typeof operatorDomain>

const shownDomain = operatorDomain.extend({
  checks: z.int().meta({ description: 'How many have ended.' }),
  next_check_at: at.optional().meta({ description: 'Absent: none is scheduled.' }),
  records: z.array(verificationRecord),
})
export type ShownDomain = z.infer<typeof shownDomain>

/** Mail that receivers say they got from a domain on one day. */
const dmarcCount = z.object({
  day: z.iso.date(),
  reporter: z.string().meta({ description: 'Domain of the sender of the report.' }),
  authenticated: z.boolean().meta({ description: 'Whether it was authenticated; else anybody may have written it.' }),
  source_ip: z.string(),
  disposition: z.string().meta({ description: 'What the receiver did: `none`, `quarantine`, `reject`, `pass`.' }),
  dkim: z.string().meta({ description: 'Whether an aligned signature passed.' }),
  spf: z.string().meta({ description: 'Whether SPF passed for an aligned domain.' }),
  messages: z.int(),
})
export type DmarcCount = z.infer<typeof dmarcCount>

/** Custom domains of all organizations, for the operator's command line. */
export const domainsOperatorOperations = internalGroup({
  'domains-dns.listAll': defineInternal({
    ...FROM_OPERATOR,
    service: 'domains-dns',
    id: 'domains-dns.listAll',
    path: '/internal/domains-operator/list',
    summary: 'Page through the registrations of all organizations, by name',
    body: z.object({
      organization_id: z.guid().optional(),
      status: z.enum(DOMAIN_STATUSES).optional(),
      barred: z.literal(true).optional(),
      after: z.object({ domain: z.string(), domain_uid }).optional(),
      limit: z.int().min(1).max(1_000),
    }),
    response: z.object({ domains: z.array(operatorDomain) }),
  }),
  'domains-dns.showAll': defineInternal({
    ...FROM_OPERATOR,
    service: 'domains-dns',
    id: 'domains-dns.showAll',
    path: '/internal/domains-operator/show',
    summary: 'Show every registration of a name, with its DNS records and its next check',
    body: z.object({ domain: z.string().min(1), organization_id: z.guid().optional() }),
    response: z.object({ domains: z.array(shownDomain) }),
  }),
  'domains-dns.setBarred': defineInternal({
    ...FROM_OPERATOR,
    service: 'domains-dns',
    id: 'domains-dns.setBarred',
    path: '/internal/domains-operator/bar',
    summary: 'Bar a registration from sending, or lift the bar; without `changed` it is unknown',
    body: z.object({ domain_uid, barred: z.boolean(), operator }),
    response: z.object({ changed: z.boolean().optional() }),
  }),
  'domains-dns.checkNow': defineInternal({
    ...FROM_OPERATOR,
    service: 'domains-dns',
    id: 'domains-dns.checkNow',
    path: '/internal/domains-operator/check',
    summary: 'Queue a check of a registration, due now',
    body: z.object({ domain_uid, operator }),
    response: z.object({ queued: z.boolean().meta({ description: 'False: it is unknown.' }) }),
  }),
  'mail-ingest.listDmarcCounts': defineInternal({
    ...FROM_OPERATOR,
    service: 'mail-ingest',
    id: 'mail-ingest.listDmarcCounts',
    path: '/internal/dmarc/list',
    summary: 'List what DMARC reports say about a registration, newest day first, most messages first',
    body: z.object({ domain_uid, since: z.iso.date(), limit: z.int().min(1).max(1_000) }),
    response: z.object({ counts: z.array(dmarcCount), more: z.boolean() }),
  }),
})
