import { z } from 'zod'

/** W3C trace context of the acceptance, with which the pipeline goes on. */
const trace = { traceparent: z.string().optional() }

/** How a mail came: what SMTP said about it, or that it was handed over inside. Stored with the inbound row. */
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
