import { z } from 'zod'

/** W3C trace context of the acceptance, which the pipeline continues. */
const trace = { traceparent: z.string().optional() }

/** How a mail arrived: the SMTP envelope, or an internal hand-over. Stored with the inbound row. */
export const envelope = z.discriminatedUnion('via', [
  z.object({
    via: z.literal('smtp'),
    ...trace,
    /** Return path; empty for reports. */
    mail_from: z.string(),
    peer: z.string(),
    helo: z.string(),
    /** Protocol word of a Received header (RFC 3848): `ESMTPS`, `ESMTP`, `SMTP`. */
    protocol: z.string(),
    tls: z.string().optional(),
    smtputf8: z.boolean(),
  }),
  z.object({ via: z.literal('internal'), ...trace, mail_from: z.string() }),
])
export type Envelope = z.infer<typeof envelope>
export type SmtpEnvelope = Extract<Envelope, { via: 'smtp' }>
