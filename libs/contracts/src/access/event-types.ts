import { type CredentialRights, holdsPermission, type Permission, seesLabels } from './permissions.ts'

/** Received mail; exactly one of these fires per stored mail (events 1.1). */
export const RECEIVED_EVENT_TYPES = [
  'message.received',
  'message.received.spam',
  'message.received.blocked',
  'message.received.unauthenticated',
] as const

/** Every name that is allowed in `event_types` of a webhook or subscription (events 1.1). */
export const EVENT_TYPES = [
  ...RECEIVED_EVENT_TYPES,
  'message.sent',
  'message.delivered',
  'message.bounced',
  'message.complained',
  'message.rejected',
  'message.opened',
  'domain.verified',
  'calendar.event.created',
  'calendar.event.updated',
  'calendar.event.deleted',
  'calendar.event.responded',
  'calendar.event.starting',
  'calendar.event.ending',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

const known: ReadonlySet<string> = new Set(EVENT_TYPES)

export function isEventType(name: string): name is EventType {
  return known.has(name)
}

/** The type of a mail stored with several restricted labels: the first of these that it carries (events 1.2 rule 2). */
export const RECEIVED_TYPE_PRECEDENCE = ['blocked', 'spam', 'unauthenticated'] as const

/** The received type for the labels a mail is stored with. */
export function receivedEventType(labels: readonly string[]): (typeof RECEIVED_EVENT_TYPES)[number] {
  const verdict = RECEIVED_TYPE_PRECEDENCE.find((label) => labels.includes(label))
  return verdict === undefined ? 'message.received' : `message.received.${verdict}`
}

/**
 * The kind of subscriber. A stream needs `message_read` for mail, a webhook only the permission of a type (events 4).
 */
export type Channel = 'webhook' | 'stream'

/** The order in which a refusal names the first missing permission (events 4). */
const CHECK_ORDER: readonly Permission[] = [
  'message_read',
  'label_spam_read',
  'label_blocked_read',
  'label_unauthenticated_read',
  'calendar_event_read',
]

const OWN_PERMISSION: { readonly [T in EventType]?: Permission } = {
  'message.received.spam': 'label_spam_read',
  'message.received.blocked': 'label_blocked_read',
  'message.received.unauthenticated': 'label_unauthenticated_read',
}

/**
 * The permission that a credential lacks for naming these types on a webhook or stream; undefined when it may name them
 * all. Of several the first in the fixed order (events 4).
 */
export function missingForEventTypes(
  rights: CredentialRights,
  types: readonly EventType[],
  channel: Channel,
): Permission | undefined {
  return permissionsForEventTypes(types, channel).find((permission) => !holdsPermission(rights, permission))
}

/**
 * Whether a live stream that was opened with these rights may deliver an event: only if REST would show the subject of
 * the event (events 1.2 rule 2, events 4).
 */
export function maySeeOnStream(
  rights: CredentialRights,
  event: { readonly type: string; readonly restricted: readonly string[] },
): boolean {
  const { type, restricted } = event
  return (
    isEventType(type) && missingForEventTypes(rights, [type], 'stream') === undefined && seesLabels(rights, restricted)
  )
}

/** Permissions that naming these types demands, in the order in which they are checked (events 4). */
export function permissionsForEventTypes(types: readonly EventType[], channel: Channel): Permission[] {
  const needed = new Set(types.flatMap((type) => permissionsOf(type, channel)))
  return CHECK_ORDER.filter((permission) => needed.has(permission))
}

function permissionsOf(type: EventType, channel: Channel): Permission[] {
  if (type.startsWith('calendar.')) return ['calendar_event_read']
  if (!type.startsWith('message.')) return []
  const own = OWN_PERMISSION[type]
  return [...(channel === 'stream' ? (['message_read'] as const) : []), ...(own === undefined ? [] : [own])]
}

/**
 * Types of a subscriber that names none (events 5). Restricted variants are left out, because clients show them in the
 * class of ordinary mail: a program that answers everything must have subscribed to spam by name.
 */
const DEFAULT_EVENT_TYPES: readonly EventType[] = EVENT_TYPES.filter(
  (type) => type === 'domain.verified' || (type.startsWith('message.') && OWN_PERMISSION[type] === undefined),
)

/**
 * The types that a subscriber gets: those it named, or the default set. Webhooks and streams share this rule.
 * @param named absent or empty when the subscriber named none.
 */
export function subscribedEventTypes(named: readonly string[] | undefined): readonly string[] {
  return named !== undefined && named.length > 0 ? named : DEFAULT_EVENT_TYPES
}
