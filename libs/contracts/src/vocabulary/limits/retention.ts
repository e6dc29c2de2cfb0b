import { DAY, HOUR } from './units.ts'

/** How long things are kept. */
export const retentionLimits = {
  /** How long a thing is kept (identity, events, docs/guarantees.md). */
  retention: {
    /** No topic keeps content longer. */
    topic: 7 * DAY,
    deadLetter: 14 * DAY,
    consumedMark: 21 * DAY,
    outbox: 1 * HOUR,
    /** Recipients of a message, for late reports. */
    delivery: 90 * DAY,
    /** The attempts of a webhook's deliveries. */
    deliveryLog: 30 * DAY,
    /** A refusal without a specific reason: a second one for the address suppresses it (events 1.3). */
    refusal: 30 * DAY,
    /** Ids that mails named and no message carries (mail 13.1). */
    rememberedId: 30 * DAY,
    /** A code mail and the address of its human: longer than the code is valid; afterwards the mail is not needed. */
    codeMail: 2 * DAY,
    /** Tombstones of inboxes and organizations: must outlive deliveries and late events about them. */
    tombstone: (90 + 21) * DAY,
  },
} as const
