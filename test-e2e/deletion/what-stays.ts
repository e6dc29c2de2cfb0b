import type { Trace } from './traces.ts'

/** Something of a deleted inbox that may be found: its location, and the reason that it is kept. */
interface Remainder {
  readonly place: string
  readonly markers: readonly string[]
  readonly because: string
  /** Restricts it to some rows or names. */
  readonly only?: (what: string) => boolean
}

const CONTENT = [
  'subject',
  'body',
  'html',
  'attachment',
  'filename',
  'label',
  'sender',
  'recipient',
  'sent',
  'waiting',
  'meeting',
]
/** A refused delivery becomes a notice in the inbox, with the header of its mail: the display name is content too. */
const EVENTS = ['uid', 'address', 'display', ...CONTENT]

/** The complete list: anything found elsewhere was missed by a purge. */
export const WHAT_STAYS: readonly Remainder[] = [
  {
    place: 'gateway.outbox',
    markers: ['uid', 'address', 'display', 'alias', 'key'],
    because: 'deleted an hour after it was published',
  },
  {
    place: 'gateway.audit_entries',
    markers: ['uid', 'key'],
    because: 'the audit log keeps deleted credentials',
  },
  {
    place: 'gateway.counted_sign_in_keys',
    markers: ['key'],
    because: 'the limits of sign-in keys count those of the last two days, deleted ones too',
  },
  {
    place: 'gateway.retired_addresses',
    markers: ['address'],
    because: 'other organizations get the address after 30 days',
  },
  { place: 'mail-ingest.outbox', markers: EVENTS, because: 'deleted an hour after it was published' },
  {
    place: 'mail-ingest.deleted_scopes',
    markers: ['uid', 'address'],
    because: 'later events of accepted sends name the inbox',
  },
  {
    place: 'mail-ingest.tombstones',
    markers: ['uid'],
    because: 'ids of deleted messages, which late events must not restore',
  },
  { place: 'mail-send.outbox', markers: EVENTS, because: 'deleted an hour after it was published' },
  { place: 'mail-send.deleted_scopes', markers: ['uid'], because: 'requests in transit are refused' },
  {
    place: 'mail-send.sends',
    markers: ['uid'],
    because: 'accepted sends are delivered, and their bounces reported, for 90 days',
  },
  {
    place: 'mail-send.deliveries',
    markers: ['recipient'],
    because: 'accepted sends are delivered, and their bounces reported, for 90 days',
  },
  { place: 'domains-dns.deleted_scopes', markers: ['uid'], because: 'requests in transit are refused' },
  { place: 'apps-signin.outbox', markers: ['uid', 'key'], because: 'deleted an hour after it was published' },
  { place: 'apps-signin.deleted_scopes', markers: ['uid'], because: 'requests in transit are refused' },
  { place: 'calendar.outbox', markers: EVENTS, because: 'deleted an hour after it was published' },
  { place: 'calendar.deleted_scopes', markers: ['uid'], because: 'requests in transit are refused' },
  { place: 'metrics.deleted_scopes', markers: ['uid'], because: 'late events count for the scopes above it alone' },
  { place: 'metrics.entities', markers: ['uid'], because: 'what is told of its creation later is counted once' },
  {
    place: 'webhooks-dispatcher.deleted_scopes',
    markers: ['uid'],
    because: 'requests in transit are refused',
  },
  {
    place: 'webhooks-dispatcher.payloads',
    markers: EVENTS,
    because: 'events already queued go to webhooks of pod and organization',
  },
  { place: 'websocket-fanout.stream_log', markers: EVENTS, because: 'the log of the live streams keeps a day' },
  {
    place: 'websocket-fanout.deleted_messages',
    markers: ['uid'],
    because: 'ids of deleted messages, whose late events must not be replayed',
  },
]

/** Bytes of a message that the recipient's server has not accepted yet. */
export const ON_ITS_WAY: Remainder = {
  place: 'blobs',
  markers: ['address', 'display', 'waiting'],
  because: 'accepted sends are still delivered',
  only: (what) => what.startsWith('outbound/'),
}

/** What may also be found of a pod: ids of rows that are kept for other reasons, and its own until the hourly sweep. */
export const OF_A_POD: readonly Remainder[] = [
  { place: 'gateway.outbox', markers: ['pod', 'name'], because: 'deleted an hour after it was published' },
  {
    place: 'gateway.audit_entries',
    markers: ['pod'],
    because: 'the audit log keeps deleted credentials',
  },
  { place: 'gateway.pods', markers: ['pod'], because: 'inboxes that are being purged refer to it' },
  { place: 'mail-ingest.outbox', markers: ['pod'], because: 'deleted an hour after it was published' },
  { place: 'mail-ingest.deleted_scopes', markers: ['pod'], because: 'later events of accepted sends name the pod' },
  {
    place: 'mail-send.sends',
    markers: ['pod'],
    because: 'accepted sends are delivered, and their bounces reported, for 90 days',
  },
  { place: 'mail-send.outbox', markers: ['pod'], because: 'deleted an hour after it was published' },
  { place: 'mail-send.deleted_scopes', markers: ['pod'], because: 'requests in transit are refused' },
  { place: 'domains-dns.deleted_scopes', markers: ['pod'], because: 'requests in transit are refused' },
  { place: 'apps-signin.outbox', markers: ['pod'], because: 'deleted an hour after it was published' },
  { place: 'calendar.outbox', markers: ['pod'], because: 'deleted an hour after it was published' },
  { place: 'metrics.deleted_scopes', markers: ['pod'], because: 'late events count for the organization alone' },
  { place: 'metrics.entities', markers: ['pod'], because: 'what is told of its creation later is counted once' },
  {
    place: 'webhooks-dispatcher.deleted_scopes',
    markers: ['pod'],
    because: 'requests in transit are refused',
  },
  {
    place: 'webhooks-dispatcher.payloads',
    markers: ['pod'],
    because: 'events already queued go to webhooks of the organization',
  },
  { place: 'websocket-fanout.stream_log', markers: ['pod'], because: 'the log of the live streams keeps a day' },
]

const NO_LONGER = ['metrics.entities', 'mail-send.sends', 'mail-send.deliveries', 'webhooks-dispatcher.payloads']
/**
 * What may be found of a deleted organization: less than of an inbox, because no event about it is delivered any more.
 */
export const OF_AN_ORGANIZATION: readonly Remainder[] = [
  ...WHAT_STAYS.filter(({ place }) => !NO_LONGER.includes(place)).map((one) =>
    one.place === 'mail-ingest.deleted_scopes' ? { ...one, markers: ['uid', 'organization'] } : one,
  ),
  ...['gateway.outbox', 'mail-ingest.outbox', 'mail-send.outbox', 'apps-signin.outbox', 'calendar.outbox'].map(
    (place) => ({
      place,
      markers: ['organization'],
      because: 'deleted an hour after it was published',
    }),
  ),
  { place: 'gateway.audit_entries', markers: ['organization'], because: 'the audit log outlives what it describes' },
  { place: 'gateway.retired_addresses', markers: ['organization'], because: 'others get its addresses after 30 days' },
  {
    place: 'mail-send.deleted_scopes',
    markers: ['organization'],
    because: 'requests in transit are refused',
  },
  { place: 'domains-dns.deleted_scopes', markers: ['organization'], because: 'requests in transit are refused' },
  { place: 'apps-signin.deleted_scopes', markers: ['organization'], because: 'requests in transit are refused' },
  { place: 'calendar.deleted_scopes', markers: ['organization'], because: 'requests in transit are refused' },
  { place: 'metrics.deleted_scopes', markers: ['organization'], because: 'late events are not counted' },
  {
    place: 'webhooks-dispatcher.deleted_scopes',
    markers: ['organization'],
    because: 'requests in transit are refused',
  },
  {
    place: 'websocket-fanout.stream_log',
    markers: ['organization'],
    because: 'the log of the live streams keeps a day',
  },
  {
    place: 'redis',
    markers: ['organization', 'uid'],
    because: 'counters of rates and streams expire',
    only: (what) => what.endsWith('(expires)'),
  },
]

/** The traces that are on no list. */
export function leftBehind(traces: readonly Trace[], ...more: readonly Remainder[]): Trace[] {
  return notIn([...WHAT_STAYS, ...more], traces)
}

/** The traces that are not on this list. */
export function notIn(list: readonly Remainder[], traces: readonly Trace[]): Trace[] {
  return traces.filter(
    ({ place, marker, what }) =>
      !list.some((one) => one.place === place && one.markers.includes(marker) && (one.only?.(what) ?? true)),
  )
}
