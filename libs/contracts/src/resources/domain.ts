import { z } from 'zod'
import { clientId, instant } from '../schemas/text.ts'
import {
  DOMAIN_REASONS,
  DOMAIN_STATUSES,
  RECORD_REASONS,
  RECORD_STATUSES,
  RECORD_TYPES,
} from '../vocabulary/domains.ts'
import { domainId, podId } from '../vocabulary/ids.ts'

/** A DNS record that the owner of a domain publishes, and what the latest check found in its place (domains 3). */
export const verificationRecord = z
  .object({
    type: z.enum(RECORD_TYPES),
    name: z.string().meta({ description: 'Full name, without a dot at its end.' }),
    value: z
      .string()
      .meta({ description: 'Raw: text without quotes and in one piece; a host without a dot at its end.' }),
    priority: z.int().optional().meta({ description: 'Of an MX record.' }),
    status: z.enum(RECORD_STATUSES),
    reason: z.enum(RECORD_REASONS).optional().meta({
      description:
        'Of an invalid record: `duplicate_records` (the expected value is there, and others too) or `value_mismatch`.',
    }),
    found: z.array(z.string()).optional().meta({
      description: 'What DNS answered at this name instead of, or beside, the expected value; up to 10 values.',
    }),
    hint: z.string().optional().meta({ description: 'For a person: the likely mistake, and how to correct it.' }),
    checked_at: instant.optional().meta({ description: 'When DNS last gave an answer for it.' }),
  })
  .meta({ id: 'VerificationRecord' })
export type VerificationRecord = z.infer<typeof verificationRecord>

/** Members of a domain in lists (domains 2.3). */
export const domainItem = z
  .object({
    pod_id: podId.optional().meta({ description: 'Of a domain that only this pod may use.' }),
    domain_id: domainId,
    domain: domainId,
    status: z.enum(DOMAIN_STATUSES),
    feedback_enabled: z.boolean().meta({
      description: 'Whether reports about bounced and refused mail are also stored in the inbox that sent it.',
    }),
    inbound_enabled: z.boolean().meta({ description: 'Whether addresses at exactly this domain receive mail.' }),
    subdomains_enabled: z.boolean().meta({ description: 'Whether inboxes may be on any subdomain.' }),
    tracking_enabled: z.boolean().meta({ description: 'Whether the images that tell of opening are served.' }),
    client_id: clientId.optional(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'DomainItem' })
export type DomainItem = z.infer<typeof domainItem>

export const domain = domainItem
  .extend({
    reason: z.enum(DOMAIN_REASONS).optional().meta({ description: 'Why it is not verified; absent once it is.' }),
    records: z.array(verificationRecord).meta({ description: 'DNS records to publish, in this order.' }),
  })
  .meta({ id: 'Domain' })
export type Domain = z.infer<typeof domain>

/** How the DNS records can be published by one click at the provider (domains 9). */
export const setupLink = z
  .object({
    supported: z.boolean().meta({
      description: 'False: the DNS provider does not offer it; publish the records of the domain by hand.',
    }),
    provider_name: z.string().optional(),
    url: z.string().optional().meta({ description: 'To be opened in a browser; signed.' }),
    width: z.int().optional().meta({ description: 'Pixels of the window that suit the page of the provider.' }),
    height: z.int().optional(),
    state: z.string().optional().meta({ description: 'Keep it before the URL is opened, and compare it on return.' }),
    conflicting_provider: z.string().optional().meta({
      description: 'A mailbox provider whose MX records the change would replace.',
    }),
  })
  .meta({ id: 'SetupLink' })
export type SetupLink = z.infer<typeof setupLink>
