import { DAY, HOUR, KB, MB, MINUTE, SECOND } from './units.ts'

/** Limits of events, of those who get them, and of metrics made of them. */
export const eventsLimits = {
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
    /** Failing for this long disables the webhook: its owner is warned at half of it, and has the other half from then. */
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
} as const
