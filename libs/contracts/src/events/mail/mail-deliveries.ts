import { z } from 'zod'
import { mailScope } from '../../schemas/mail-scope.ts'
import { sentCopy } from '../../schemas/sent-copy.ts'
import { defineTopic, routingWithin } from '../definition/topic.ts'
import { BOUNCE_SUB_TYPES, BOUNCE_TYPES } from './messages.ts'

const delivery = { ...mailScope, message_id: z.string(), thread_id: z.guid(), timestamp: z.iso.datetime() }
const recipients = z.array(z.string()).meta({ description: 'Bare addresses that this fact is about.' })
const diagnostic = z.string().optional().meta({ description: 'Answer of the remote server, for operators.' })

const unproven = z.literal(true).optional().meta({
  description: 'A report that does not come from where the mail went: it has no effect on later mail.',
})

interface DeliveryFacts {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly message_id: string
}

const events = {
  'message.accepted': { schema: sentCopy, summary: 'A send was accepted: the mailbox has its copy from now on.' },
  'delivery.handed_over': {
    schema: z.object({
      ...delivery,
      recipients,
      inside: z.int().optional().meta({ description: 'How many of them are inboxes of the installation.' }),
    }),
    summary: 'The mail left: at most once per message, with all its recipients.',
  },
  'delivery.delivered': {
    schema: z.object({ ...delivery, recipients, remote: z.string().optional() }),
    summary: 'A remote server, or an inbox of the installation, accepted the mail for these recipients.',
  },
  'delivery.delayed': {
    schema: z.object({ ...delivery, recipients, diagnostic }),
    summary: 'A first retry failed too; delivery continues.',
  },
  'delivery.bounced': {
    schema: z.object({
      ...delivery,
      recipients,
      type: z.enum(BOUNCE_TYPES),
      sub_type: z.enum(BOUNCE_SUB_TYPES),
      diagnostic,
      unproven,
      inside: z.literal(true).optional().meta({ description: 'They are addresses of the installation.' }),
    }),
    summary: 'These recipients were permanently refused, or retries were used up.',
  },
  'delivery.complained': {
    schema: z.object({ ...delivery, recipients, type: z.string().min(1), sub_type: z.string().min(1), unproven }),
    summary: 'A complaint report was matched to this mail.',
  },
  'delivery.opened': {
    schema: z.object(delivery),
    summary: 'The image of the mail was loaded: at most once per message.',
  },
  'delivery.rejected': {
    schema: z.object({ ...delivery, reason: z.string() }),
    summary: 'The mail was refused after acceptance and before it left.',
  },
} as const

export const mailDeliveriesTopic = defineTopic({
  name: 'mail.deliveries',
  producer: 'mail-send',
  summary: 'What became of each sent mail; the mailbox turns these facts into labels and public events.',
  key: 'inbox_uid',
  subject: (facts: DeliveryFacts) => facts.message_id,
  routing: routingWithin,
  events,
})
