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

/** What was found and is on no list. */
export function leftBehind(traces: readonly Trace[], ...remainders: readonly Remainder[]): Trace[] {
  return traces.filter(
    ({ place, marker, what }) =>
      ![...WHAT_STAYS, ...remainders].some(
        (one) => one.place === place && one.markers.includes(marker) && (one.only?.(what) ?? true),
      ),
  )
}
