import { z } from 'zod'
import { domain } from '../resources/domain.ts'
import { definePublicTopic, routingWithin } from './definition/topic.ts'

interface DomainFacts {
  readonly organization_id: string
  /** Of a domain that only one pod may use: subscribers to this pod get its events as well. */
  readonly pod_id?: string | undefined
  readonly domain_uid: string
}

/** The exact public documents about domains; they are never about one inbox (domains 7.4). */
export const domainsEventsTopic = definePublicTopic({
  name: 'domains.events',
  producer: 'domains-dns',
  summary: 'Public events about domains, byte for byte as webhooks and streams get them.',
  key: 'domain_uid',
  subject: (facts: DomainFacts) => facts.domain_uid,
  routing: routingWithin,
  events: {
    'domain.verified': {
      schema: z.object({
        type: z.literal('event'),
        event_type: z.literal('domain.verified'),
        event_id: z.guid(),
        domain,
      }),
      public: true,
      summary: 'A domain became verified: once for each move into this state.',
    },
  },
})
