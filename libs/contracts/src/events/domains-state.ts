import { z } from 'zod'
import { DOMAIN_STATUSES } from '../vocabulary/domains.ts'
import { defineTopic, routingWithin } from './definition/topic.ts'

const at = z.iso.datetime()

/** What identifies a registration, which none of its changes affects. */
const identity = {
  organization_id: z.guid(),
  pod_id: z.guid().optional().meta({ description: 'Of a domain that only this pod may use.' }),
  domain_uid: z.guid().meta({
    description:
      'A registration of a name by an organization. One that is deleted and made again has another; so has that of another organization.',
  }),
  version: z.int().meta({ description: 'Grows with each change of the registration; only a newer one is applied.' }),
  domain: z.string().meta({ description: 'Lower case, in ASCII, without a dot at its end.' }),
}

/** Full state of a registered domain (domains 2.4), without its DNS records and never with its key. */
export const domainState = z.object({
  ...identity,
  status: z.enum(DOMAIN_STATUSES),
  inbound_enabled: z.boolean().meta({ description: 'Whether addresses at exactly this domain receive mail.' }),
  subdomains_enabled: z.boolean().meta({ description: 'Whether addresses below this domain receive mail.' }),
  feedback_enabled: z.boolean().meta({
    description: 'Whether reports about mail of an inbox are also stored in this inbox.',
  }),
  tracking_enabled: z.boolean(),
  proven: z.boolean().meta({
    description:
      'Whether this organization has proven that it holds the name, and no other has since. Without it no inbox on it sends or receives.',
  }),
  sending_ready: z.boolean().meta({ description: 'Whether inboxes on it may send (domains 7.3).' }),
  return_path: z.string().meta({ description: 'Domain of the envelope senders of its mail: `<label>.<domain>`.' }),
  tracking_host: z.string().optional().meta({
    description: 'Host of the images that tell of opening: only while its record and its certificate are there.',
  }),
  created_at: at,
  updated_at: at,
})
export type DomainState = z.infer<typeof domainState>

const events = {
  'domain.changed': { schema: domainState, summary: 'A domain was registered, or its state or switches changed.' },
  'domain.deleted': {
    schema: z.object({ ...identity, deleted_at: at }),
    summary: 'A domain was deleted: its inboxes stay, and neither send nor receive.',
  },
} as const

interface DomainFacts {
  readonly organization_id: string
  readonly pod_id?: string | undefined
  readonly domain_uid: string
}

/** An id is that of one registration for ever, so a deletion is final, whatever arrives after it. */
export const domainsStateTopic = defineTopic({
  name: 'domains.state',
  producer: 'domains-dns',
  summary: 'Registered domains: full state at each change, and deletions.',
  key: 'domain_uid',
  subject: (facts: DomainFacts) => facts.domain_uid,
  routing: routingWithin,
  events,
})
