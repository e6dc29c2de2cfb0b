import { DAY, KB, MINUTE } from './units.ts'

/** Limits of sign-in to apps. */
export const appsLimits = {
  /** Sign-in to apps (apps 10). */
  app: {
    categories: 3,
    slug: 64,
    url: 2048,
    description: 4_096,
    redirectUris: 10,
    /** Secrets of one app that are valid at once. */
    secrets: 2,
    /** The text that is accepted before the first sign-in. */
    disclosure: 4 * KB,
    search: { min: 1, max: 100 },
    /** Characters of the token by which an agent names a sign-in that waits. */
    authToken: { min: 22, max: 128 },
    state: 512,
    nonce: 256,
    /** A link of connect and its pending key. */
    link: 5 * MINUTE,
    transaction: 10 * MINUTE,
    code: 1 * MINUTE,
    /** ID and access tokens. */
    token: 10 * MINUTE,
    signInKey: 30 * DAY,
    /** Since the latest sign-in. */
    consent: 180 * DAY,
    ownerApproval: 15 * MINUTE,
    /** Mails to the human of one organization that ask for it. */
    ownerMailsPerHour: 10,
    /** Keys of one bearer key that are pending. */
    pendingKeys: 5,
    /** Keys created per hour: of one bearer key, of one organization. */
    keysPerHour: { credential: 20, organization: 100 },
    /** Keys of one creator that are activated, per UTC day. */
    activationsPerDay: 20,
    /** Exchanges of one client, and failed ones of one client from one address, per minute. */
    exchangesPerMinute: 60,
    failedExchangesPerMinute: 10,
    /** Sign-ins that begin from one network, per minute. */
    signInsPerMinute: 300,
    /** A signing key is published so long before its use, and after it. */
    signingKeyOverlap: 1 * DAY,
    /** Bytes of a signed assertion. */
    assertion: 2048,
  },
} as const
