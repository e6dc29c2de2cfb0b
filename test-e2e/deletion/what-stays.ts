import type { Trace } from './traces.ts'

/** Something of a deleted inbox that may be found, where, and why it is still there. */
interface Remainder {
  readonly place: string
  readonly markers: readonly string[]
  readonly because: string
  /** Narrows it to some rows or names. */
  readonly only?: (what: string) => boolean
}

const CONTENT = ['subject', 'body', 'html', 'attachment', 'filename', 'label', 'sender', 'recipient', 'sent', 'waiting']
const EVENTS = ['uid', 'address', ...CONTENT]

/** The whole list: what is found elsewhere was forgotten by a purge. */
export const WHAT_STAYS: readonly Remainder[] = [
  {
    place: 'gateway.outbox',
    markers: ['uid', 'address', 'display', 'alias', 'key'],
    because: 'an hour after it was published',
  },
  {
    place: 'gateway.audit_entries',
    markers: ['uid', 'key'],
    because: 'the audit log tells of credentials, also of deleted ones',
  },
  {
    place: 'gateway.retired_addresses',
    markers: ['address'],
    because: 'other organizations get the address after 30 days',
  },
  { place: 'mail-ingest.outbox', markers: EVENTS, because: 'an hour after it was published' },
  {
    place: 'mail-ingest.deleted_inboxes',
    markers: ['uid', 'address'],
    because: 'later events of accepted sends name the inbox',
  },
  {
    place: 'mail-ingest.tombstones',
    markers: ['uid'],
    because: 'ids of deleted messages, which late facts must not bring up',
  },
  { place: 'mail-send.outbox', markers: EVENTS.concat('display'), because: 'an hour after it was published' },
  { place: 'mail-send.deleted_inboxes', markers: ['uid'], because: 'requests that were on their way are refused' },
  {
    place: 'mail-send.sends',
    markers: ['uid'],
    because: 'accepted sends are delivered, and their bounces told, for 90 days',
  },
  {
    place: 'mail-send.deliveries',
    markers: ['recipient'],
    because: 'accepted sends are delivered, and their bounces told, for 90 days',
  },
  {
    place: 'webhooks-dispatcher.gone_scopes',
    markers: ['uid'],
    because: 'requests that were on their way are refused',
  },
  {
    place: 'webhooks-dispatcher.payloads',
    markers: EVENTS,
    because: 'events already queued go to webhooks of pod and organization',
  },
  { place: 'websocket-fanout.stream_log', markers: EVENTS, because: 'the log of the live streams keeps a day' },
]

/** Bytes of a message that its recipient's server has not taken yet. */
export const ON_ITS_WAY: Remainder = {
  place: 'blobs',
  markers: ['address', 'display', 'waiting'],
  because: 'accepted sends are still delivered',
  only: (what) => what.startsWith('outbound/'),
}

/** What else may be found of a pod: ids of rows that stay for other reasons, and its own until the sweep of the hour. */
export const OF_A_POD: readonly Remainder[] = [
  { place: 'gateway.outbox', markers: ['pod', 'name'], because: 'an hour after it was published' },
  {
    place: 'gateway.audit_entries',
    markers: ['pod'],
    because: 'the audit log tells of credentials, also of deleted ones',
  },
  { place: 'gateway.pods', markers: ['pod'], because: 'inboxes that are being purged refer to it' },
  { place: 'mail-ingest.outbox', markers: ['pod'], because: 'an hour after it was published' },
  { place: 'mail-ingest.deleted_inboxes', markers: ['pod'], because: 'later events of accepted sends name the pod' },
  {
    place: 'mail-send.sends',
    markers: ['pod'],
    because: 'accepted sends are delivered, and their bounces told, for 90 days',
  },
  { place: 'mail-send.outbox', markers: ['pod'], because: 'an hour after it was published' },
  {
    place: 'webhooks-dispatcher.gone_scopes',
    markers: ['pod'],
    because: 'requests that were on their way are refused',
  },
  {
    place: 'webhooks-dispatcher.payloads',
    markers: ['pod'],
    because: 'events already queued go to webhooks of the organization',
  },
  { place: 'websocket-fanout.stream_log', markers: ['pod'], because: 'the log of the live streams keeps a day' },
]

const NO_LONGER = ['mail-send.sends', 'mail-send.deliveries', 'webhooks-dispatcher.payloads']
/** What may be found of an organization and all that was in it: nobody is left who could be told of anything. */
export const OF_AN_ORGANIZATION: readonly Remainder[] = [
  ...WHAT_STAYS.filter(({ place }) => !NO_LONGER.includes(place)).map((one) =>
    one.place === 'mail-ingest.deleted_inboxes' ? { ...one, markers: ['uid', 'organization'] } : one,
  ),
  ...['gateway.outbox', 'mail-ingest.outbox', 'mail-send.outbox'].map((place) => ({
    place,
    markers: ['organization'],
    because: 'an hour after it was published',
  })),
  { place: 'gateway.audit_entries', markers: ['organization'], because: 'the audit log outlives what it tells of' },
  { place: 'gateway.retired_addresses', markers: ['organization'], because: 'others get its addresses after 30 days' },
  { place: 'mail-ingest.deleted_organizations', markers: ['organization'], because: 'what comes late stays out' },
  {
    place: 'mail-send.deleted_inboxes',
    markers: ['organization'],
    because: 'requests that were on their way are refused',
  },
  { place: 'mail-send.deleted_organizations', markers: ['organization'], because: 'what ends late goes too' },
  {
    place: 'webhooks-dispatcher.gone_scopes',
    markers: ['organization'],
    because: 'requests that were on their way are refused',
  },
  {
    place: 'websocket-fanout.stream_log',
    markers: ['organization'],
    because: 'the log of the live streams keeps a day',
  },
  {
    place: 'redis',
    markers: ['organization', 'uid'],
    because: 'counters of rates and streams end by themselves',
    only: (what) => what.endsWith('(expires)'),
  },
]

/** What was found and is on no list. */
export function leftBehind(traces: readonly Trace[], ...more: readonly Remainder[]): Trace[] {
  return notIn([...WHAT_STAYS, ...more], traces)
}

/** What was found and is not on this list. */
export function notIn(list: readonly Remainder[], traces: readonly Trace[]): Trace[] {
  return traces.filter(
    ({ place, marker, what }) =>
      !list.some((one) => one.place === place && one.markers.includes(marker) && (one.only?.(what) ?? true)),
  )
}
