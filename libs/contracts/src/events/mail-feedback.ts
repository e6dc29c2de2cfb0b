import { z } from 'zod'
import { NO_ORGANIZATION } from './event.ts'
import { defineTopic } from './topic.ts'

const report = {
  delivery_id: z.guid().meta({ description: 'Named by the return path that the report came to.' }),
  message_id: z.string().optional().meta({ description: 'Of the original, where the report quotes it.' }),
  received_at: z.iso.datetime(),
  peer: z.string().optional().meta({ description: 'Address that the report came from, by SMTP.' }),
  authenticated: z
    .array(z.string())
    .optional()
    .meta({ description: 'Domains of the report for which SPF or DKIM passed.' }),
}

const events = {
  'bounce.reported': {
    schema: z.object({
      ...report,
      recipients: z.array(
        z.object({
          address: z.string().optional(),
          action: z.enum(['failed', 'delayed', 'delivered', 'relayed', 'expanded']),
          status: z.string().optional().meta({ description: 'Enhanced status code: `5.1.1`.' }),
          diagnostic: z.string().optional(),
        }),
      ),
    }),
    summary: 'A delivery status notification came to a return path.',
  },
  'complaint.reported': {
    schema: z.object({
      ...report,
      feedback_type: z.string().meta({ description: '`abuse`, `fraud`, `virus`, `other`, `not-spam`.' }),
      recipients: z.array(z.string()),
    }),
    summary: 'A feedback report about a mail came in.',
  },
} as const

/**
 * Reports about sent mail, found in inbound mail (mail 13, RFC 3464, RFC 5965). Only mail-send knows the owner of the
 * delivery: their routing is `NO_ORGANIZATION`.
 */
export const mailFeedbackTopic = defineTopic({
  name: 'mail.feedback',
  producer: 'mail-ingest',
  summary: 'Bounce and complaint reports about sent mail, found in inbound mail.',
  key: 'delivery_id',
  subject: (facts: { readonly delivery_id: string }) => facts.delivery_id,
  routing: () => ({ organizationId: NO_ORGANIZATION }),
  events,
})
