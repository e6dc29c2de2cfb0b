const KB = 1024
const MB = 1024 * KB
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * Every limit that is visible outside of a service, by subject. Sizes are bytes of UTF-8, lengths are characters, times
 * are milliseconds, unless the name says otherwise. Limits that an installation may change are defaults here.
 */
export const LIMITS = {
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
  /** Metrics (identity 9). Periods and windows are seconds. */
  metrics: {
    /** How far back events and rates reach. */
    reach: 90 * DAY,
    /** The range without `start`. */
    range: 1 * DAY,
    /** Entries per type. */
    limit: { default: 1_000, max: 10_000 },
    /** Points of usage and rates in one answer. */
    points: 1_000,
    period: { min: 1, max: 86_400, default: 3_600 },
    ratePeriod: { min: 60 },
    window: { default: 86_400, max: 2_592_000 },
  },
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
  /** Request rates (identity 1.9); token buckets. */
  rate: {
    organizationPerSecond: 100,
    organizationBurst: 200,
    credentialPerSecond: 50,
    credentialBurst: 100,
    signUpsPerHour: 60,
    failedAuthenticationsPerMinute: 300,
  },
  /** Labels (mail 4.3). */
  labels: { perResource: 256, length: 256 },
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
  /** `Idempotency-Key` (identity 1.8). */
  idempotency: { key: 256, kept: 1 * DAY },
  /** Outbound delivery (mail 15.1). */
  delivery: { retriedFor: 72 * HOUR },
  /** Inbound mail (mail 13). */
  inbound: {
    bytes: 40 * MB,
    /** Answer of the owner about the recipients of one session; later 451. */
    recipientLookup: 2 * SECOND,
    /** DNS time of each step of sender authentication, and processor time of all of them together. */
    senderAuthentication: 2 * SECOND,
    senderAuthenticationCpu: 2 * SECOND,
    /** Mails that wait for DNS before their sender can be judged; further ones are stored as unauthenticated. */
    waiting: { perInbox: 100, all: 10_000, time: HOUR },
    /** Rates per hour; beyond them 451. One network gets a quarter of an inbox's and of an organization's. */
    networkMails: 20_000,
    networkBytes: 20_000 * MB,
    inboxMails: 2_000,
    organizationMails: 20_000,
    /** Mails to the operator per hour, of which one network gets a twentieth, and the size of one of them. */
    operatorMails: 500,
    operatorBytes: 10 * MB,
    parseMemoryMb: 256,
    parseTime: 5 * SECOND,
    /** Longest time for which slow mail holds up its inbox; then it is stored unparsed. */
    slowLane: 1 * MINUTE,
    attempts: 3,
    /** How long a mail that a list blocks waits for the owner of lists to confirm that. */
    listOwner: 5 * MINUTE,
    /** Ids that mails named and no message carries: those of one thread that are remembered, the newest (mail 13.1). */
    rememberedIds: 20,
  },
  /**
   * How much of one received mail is parsed; content beyond it is missing from its record, and kept in the raw mail.
   */
  mime: {
    /** Header block of one part. */
    headerBytes: 256 * KB,
    /** Header fields of one part. */
    headerFields: 1_000,
    /** Parts of the whole mail, containers included. */
    parts: 500,
    /** Levels of multipart inside multipart; a container below is one attachment. */
    depth: 30,
    /** Mailboxes of one address list. */
    addresses: 1_000,
    /** Ids of `References`; the newest are kept. */
    references: 200,
    /** Decoded text body and, apart from it, html body. */
    bodyBytes: 10 * MB,
    /** Longer bodies (characters) are kept whole as their own extraction, and searched by their beginning. */
    extractedText: 2 * MB,
    extractedHtml: 1 * MB,
    /** The same of html with more tags, each of which costs a parser far more time and memory than its characters. */
    htmlTags: 60_000,
  },
  /** Plain text of attachments (mail 16). */
  document: {
    /** Larger attachments are not read. */
    bytes: 25 * MB,
    /** Attachments of one message that are read, the first. */
    perMessage: 20,
    /** Attempts at a document that ends its thread; then it is not read again. */
    attempts: 2,
    reading: {
      /** The text after as many characters is left out. */
      characters: 1_000_000,
      /** Of the parts that are read, of a document that is a package. */
      inflatedBytes: 200 * MB,
      members: 10_000,
      /** Levels of elements inside elements. */
      depth: 1_000,
    },
    /** Processor time of one document, and heap of the thread that reads it. */
    time: 10 * SECOND,
    memoryMb: 256,
  },
  /**
   * A thread's senders, recipients and attachments are each truncated to the newest, in number and in bytes; they are
   * rebuilt from as many of its newest messages.
   */
  thread: {
    list: 1_000,
    listBytes: 128 * KB,
    messages: 1_000,
    messageBytes: 512 * KB,
    /** Labels of a thread with as many messages are not changed at once (mail 10). */
    relabelled: 100,
  },
  /** Search in mail (mail 17). */
  search: {
    text: { min: 1, max: 512 },
    words: 24,
    /** As many of the newest with a word in sender, recipients or subject rank before all others. Results that one page examines. */
    ranked: 2_000,
    /** Characters of one message's text that are searched, and of its senders, recipients and subject. */
    bodyText: 100_000,
    headerText: 20_000,
    /** Characters of the texts of one message's attachments that are searched, together. */
    documentText: 100_000,
    /** Terms by which one message is found; a text with more different words is found by its first. */
    terms: 10_000,
    /** Of these, terms that only its attachments have. */
    documentTerms: 5_000,
    highlights: 3,
    highlight: 160,
  },
  /** Stored messages (mail 5). */
  message: {
    preview: 200,
    downloadLink: 1 * HOUR,
    /** Ids of one batch request (mail 6.4, 7), and characters of one id. */
    batchGet: 500,
    batchUpdate: 50,
    id: 1_000,
  },
  /** Payloads (events 3.1, 10). */
  event: {
    payload: 900 * KB,
    /** Bodies above it, together, are left out of a received event. */
    bodies: 64 * KB,
    /**
     * A thread's attachments, recipients and senders are each cut to the newest of these when the payload is too large.
     */
    threadList: 100,
    /** Ids in one filter of a webhook or subscription. */
    filterIds: 10,
    /** Characters of one of them: an address or an alias. */
    filterId: 320,
    /** Names in one list of event types, repetitions included. */
    filterTypes: 100,
  },
  /** Characters of an entry of an allow or block list (mail 12.2). */
  listEntry: { entry: 1_000, reason: 1_024 },
  /** Webhooks and their deliveries (events 7, 8). */
  webhook: {
    perOrganization: 50,
    url: 2048,
    headers: 20,
    headerBytes: 4 * KB,
    timeout: 15 * SECOND,
    /** Waits between attempts, each from the previous failure: eight attempts over about 27.5 hours. */
    retries: [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
    /** Random part added to a wait, as a share of it; none on the first. */
    jitter: 0.1,
    inFlight: 10,
    responseBytes: 16 * KB,
    /** The failure clock starts on several failures within a day that are at least this far apart. */
    failureSpan: 12 * HOUR,
    failureWindow: 1 * DAY,
    /** Failing for this long disables the webhook. */
    disableAfter: 5 * DAY,
  },
  /** The live stream (events 6.4). */
  stream: {
    connectionsPerOrganization: 1000,
    subscriptions: 100,
    age: 1 * DAY,
    ping: 30 * SECOND,
    unansweredPings: 2,
    frame: 64 * KB,
    framesPerSecond: 50,
    waitingBytes: 4 * MB,
    waitingEvents: 1000,
    /** An open stream of a revoked or expired key closes within this time. */
    revocation: 1 * SECOND,
    log: 1 * DAY,
    /** Characters of a cursor. */
    cursor: 200,
    /** A stream that has not read what it missed within this time is closed; its last cursor continues. */
    replay: 5 * MINUTE,
    /** A replay whose reader takes nothing for this long is closed. */
    replayStall: 30 * SECOND,
    /** Longest wait of a poll, in seconds. */
    pollWait: 30,
    /** Documents in one answer to a poll; one that is larger comes alone. */
    pollBytes: 1 * MB,
  },
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
