import { DAY, MB, MINUTE, SECOND } from './units.ts'

/** Limits of organizations and of what belongs to them: pods, inboxes, keys, domains. */
export const tenancyLimits = {
  /** Names, titles and aliases of resources. */
  name: { default: 'My API Key', max: 256 },
  clientId: 256,
  /** Pods (identity 7). */
  pod: { defaultName: 'My Pod' },
  /** Inboxes (identity 8). */
  inbox: {
    username: 64,
    displayName: 256,
    /** Text of a search. */
    search: { min: 2, max: 256 },
    metadataKeys: 256,
    metadataKey: 256,
    metadataValue: 256,
    /** A generated username that is taken is drawn again this often, with one more digit each time. */
    usernameAttempts: 10,
    /** An address on a shared domain that was deleted is kept from other organizations this long. */
    retiredAddress: 30 * DAY,
  },
  /** Custom domains (domains 2, 7). */
  domain: {
    /** Octets of a name, and of each of its labels (RFC 1035 2.3.4). */
    name: { min: 4, max: 253 },
    label: 63,
    /** A name that was verified is kept from other organizations this long afterwards. */
    proof: 30 * DAY,
    /** A request to verify waits this long for its check to end. */
    verifyWait: 3 * SECOND,
  },
  /** DMARC reports about custom domains (domains 3). */
  dmarc: {
    reading: { inflatedBytes: 10 * MB, ratio: 200, rows: 1_000, members: 10 },
    /** Rows of counts of a domain and day, from authenticated senders and from others; also reports. */
    rowsPerDay: { authenticated: 5_000, others: 1_000 },
    /** Counts are kept this long. */
    kept: 90 * DAY,
  },
  /** API keys (identity 3). */
  apiKey: {
    perOrganization: 1000,
    /** Members of a `permissions` object, unknown names included. */
    permissions: 256,
    /** How long a positive look-up may be cached: the bound within which revocation takes effect. */
    cache: 1 * SECOND,
    /** `used_at` is written at most this often per key. */
    usedAt: 1 * MINUTE,
    /** An expired key is still listed this long. */
    listedAfterExpiry: 30 * DAY,
  },
  /** Agent sign-up and its codes (identity 5). */
  signUp: {
    source: 2048,
    humanEmail: 320,
    codeDigits: 6,
    codeLifetime: 1 * DAY,
    codeAttempts: 10,
    /** Code mails to one human address: spacing, and number per day. */
    codeMailSpacing: 1 * MINUTE,
    codeMailsPerDay: 5,
    /** Of these, codes of provisional keys: the others are left to the organization's own code. */
    provisionalMailsPerDay: 3,
    /** Wrong codes before a provisional key is revoked. */
    provisionalAttempts: 3,
    /** Provisional keys that wait for their code, per organization. */
    provisionalKeys: 50,
    /** Replacements of an organization's human before the next one is refused. */
    humanReplacements: 2,
    inboxLimit: 1,
    domainLimit: 0,
    /** Recipients a day of an organization whose human is not verified. */
    mailsPerDay: 10,
  },
} as const
