import { z } from 'zod'
import { AUTHENTICATION_VERDICTS } from '../../resources/message.ts'
import { mailScope } from '../../schemas/mail-scope.ts'
import { defineTopic, routingWithin } from '../definition/topic.ts'

const inbound = { ...mailScope, inbound_id: z.guid().meta({ description: 'One mail for one inbox.' }) }

/** Why a mail that got `250` is in no mailbox (mail 2, 13). */
export const DISCARD_REASONS = ['paused', 'virus', 'dmarc', 'duplicate', 'report', 'inbox_deleted'] as const
export type DiscardReason = (typeof DISCARD_REASONS)[number]

interface InboundFacts {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly inbound_id: string
}

const events = {
  'mail.accepted': {
    schema: z.object({
      ...inbound,
      recipient: z.string().meta({ description: 'Address as the peer gave it.' }),
      mail_from: z.string().meta({ description: 'Return path; empty for a report.' }),
      via: z.enum(['smtp', 'internal']),
      peer: z.string().optional().meta({ description: 'Address of the SMTP peer.' }),
      helo: z.string().optional(),
      tls: z.boolean().optional(),
      size: z.int(),
      accepted_at: z.iso.datetime(),
    }),
    summary: 'A mail is stored durably and was acknowledged.',
  },
  'mail.processed': {
    schema: z.object({
      ...inbound,
      message_id: z.string(),
      thread_id: z.guid(),
      labels: z.array(z.string()),
      authentication: z.enum(AUTHENTICATION_VERDICTS),
      spam_score: z.number().optional(),
      parsed: z.boolean().meta({ description: 'False: stored raw because parsing failed permanently.' }),
      attempts: z.int(),
      size: z.int(),
      latency_ms: z.int().meta({ description: 'From acceptance to this commit.' }),
    }),
    summary: 'A mail is in its mailbox and its event is recorded.',
  },
  'mail.discarded': {
    schema: z.object({ ...inbound, reason: z.enum(DISCARD_REASONS), size: z.int() }),
    summary: 'A mail was accepted and by rule put into no mailbox.',
  },
} as const

export const mailInboundTopic = defineTopic({
  name: 'mail.inbound',
  producer: 'mail-ingest',
  summary: 'What became of each accepted mail: facts for operators, without content.',
  key: 'inbox_uid',
  subject: (facts: InboundFacts) => facts.inbound_id,
  routing: routingWithin,
  events,
})
