import { HOUR, KB, MB, MINUTE, SECOND } from './units.ts'

/** Limits of mail that is sent, and of the lists that judge it. */
export const mailOutLimits = {
  /** One outgoing message (mail 2, 8, 16). The lengths of single fields keep its event below the payload cap. */
  send: {
    recipients: 50,
    address: 1000,
    subject: 4000,
    customHeaders: 100,
    customHeaderName: 76,
    /** How long after its acceptance a message that is not in the mailbox yet is looked for at mail-send (mail 6.3). */
    copyAwaited: 10 * MINUTE,
    customHeaderBytes: 64 * KB,
    attachments: 256,
    attachmentName: 255,
    attachmentUrl: 8 * KB,
    /** Characters of the id of a message that is answered or referred to. */
    messageId: 1000,
    /** All attachments of one message that are fetched or referred to. */
    fetchedBytes: 30 * MB,
    fetchTimeout: 10 * SECOND,
  },
  /** Drafts (mail 11). */
  draft: {
    /** A scheduled draft that could not be sent for this long, for reasons of the installation, fails. */
    sendingFor: 15 * MINUTE,
  },
  /** Outbound delivery (mail 15.1). */
  delivery: { retriedFor: 72 * HOUR },
  /** Characters of an entry of an allow or block list (mail 12.2). */
  listEntry: { entry: 1_000, reason: 1_024 },
} as const
