import { z } from 'zod'
import { NO_ORGANIZATION } from '../definition/event.ts'
import { defineTopic } from '../definition/topic.ts'

const arrival = {
  delivery_id: z
    .guid()
    .meta({ description: 'Named by the address that the mail came to, or by the enclosed original.' }),
  received_at: z.iso.datetime(),
  peer: z.string().optional().meta({ description: 'Address that the mail came from, by SMTP.' }),
}

const report = {
  ...arrival,
  message_id: z.string().optional().meta({ description: 'Of the original, where the report quotes it.' }),
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
  'unsubscribe.requested': {
    schema: z.object(arrival),
    summary: 'A mail came to the unsubscribe address of a delivery, which only its recipient was given.',
  },
} as const

/**
 * Reports about sent mail, found in inbound mail (mail 13, RFC 3464, RFC 5965), and requests to unsubscribe by mail
 * (mail 15.5, RFC 2369). Only mail-send knows the owner of the
 * delivery: their routing is `NO_ORGANIZATION`.
 */
export const mailFeedbackTopic = defineTopic({
  name: 'mail.feedback',
  producer: 'mail-ingest',
  summary: 'Bounce and complaint reports about sent mail, found in inbound mail, and requests to unsubscribe by mail.',
  key: 'delivery_id',
  subject: (facts: { readonly delivery_id: string }) => facts.delivery_id,
  routing: () => ({ organizationId: NO_ORGANIZATION }),
  events,
})
