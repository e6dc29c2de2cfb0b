import { DAY, KB, MB, MINUTE } from './units.ts'

/** Limits of requests and answers, whatever they are about. */
export const requestsLimits = {
  /** Lists (identity 1.4, mail 1). */
  page: {
    default: 50,
    /** Maximum of unfiltered lists, which reduce a larger limit; searches and content-filtered lists answer 400. */
    max: 100,
    /** Cap of unfiltered message and thread lists. */
    maxMail: 500,
    /** Messages inside one thread: default and cap (mail 10). */
    threadMessages: 100,
  },
  /** Requests (identity 1.10). */
  request: {
    /** Body of the send family; above it the bare 413. */
    mailBody: 6 * MB,
    /** Any other JSON body; above it `payload_too_large`. */
    body: 1 * MB,
    /** Header block; above it 431. */
    headers: 32 * KB,
    /** Request target; above it 414. */
    url: 16 * KB,
    /** Larger responses are compressed for a client that accepts gzip. */
    compressAbove: 1 * KB,
    /** Accepted `X-Request-Id`. */
    requestId: 128,
  },
  /** `Idempotency-Key` (identity 1.8). */
  idempotency: { key: 256, kept: 1 * DAY },
  /** Request rates (identity 1.9); token buckets. */
  rate: {
    organizationPerSecond: 100,
    organizationBurst: 200,
    credentialPerSecond: 50,
    credentialBurst: 100,
    signUpsPerHour: 60,
    failedAuthenticationsPerMinute: 300,
  },
  /** Requests signed with a registered public key (identity 2.4). */
  signature: {
    /** `created` may differ from the server's clock by as much, either way. */
    window: 5 * MINUTE,
    /** Characters of a nonce: at least 16 bytes in base64. */
    nonce: { min: 22, max: 256 },
    /** Longer than a signature can be valid, by more than clocks of processes differ. */
    nonceKept: 11 * MINUTE,
    /** Characters of Signature-Input, and of Signature: several times what a signature needs. */
    header: 2048,
    /** Signatures of one request: the caller's, and possibly those of proxies. */
    labels: 4,
    /** Components that one signature covers. */
    components: 16,
  },
} as const
