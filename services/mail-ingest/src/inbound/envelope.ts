import { z } from 'zod'

/** How a mail came: what SMTP said about it, or that it was handed over inside. Stored with the inbound row. */
export const envelope = z.discriminatedUnion('via', [
  z.object({
    via: z.literal('smtp'),
    /** Return path; empty for reports. */
    mail_from: z.string(),
    peer: z.string(),
    helo: z.string(),
    /** Protocol word of a Received header (RFC 3848): `ESMTPS`, `ESMTP`, `SMTP`. */
    protocol: z.string(),
    tls: z.string().optional(),
    smtputf8: z.boolean(),
  }),
  z.object({ via: z.literal('internal'), mail_from: z.string() }),
])
export type Envelope = z.infer<typeof envelope>
export type SmtpEnvelope = Extract<Envelope, { via: 'smtp' }>
