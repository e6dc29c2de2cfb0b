import { EVENT_TYPES, type EventType, type FieldError, isEventType, LIMITS } from '@restante/contracts'
import { ApiError } from '@restante/service'

/** What a client asks, after its shape was checked. Ids are as given, inbox ids lower-cased. */
export interface SubscribeFrame {
  readonly type: 'subscribe'
  /** `undefined`: the default set. */
  readonly eventTypes: readonly EventType[] | undefined
  readonly inboxIds: readonly string[] | undefined
  readonly podIds: readonly string[] | undefined
}

export interface UnsubscribeFrame {
  readonly type: 'unsubscribe'
  readonly inboxIds: readonly string[] | undefined
  readonly podIds: readonly string[] | undefined
}

/** A frame that is neither `subscribe` nor `unsubscribe`, or no JSON object at all. */
export interface ForeignFrame {
  readonly type: 'foreign'
}

export type ClientFrame = SubscribeFrame | UnsubscribeFrame | ForeignFrame

/**
 * Reads one text frame (events 6.2).
 * @throws ApiError `validation_error` with every wrong member of a `subscribe` or `unsubscribe`.
 */
export function readFrame(text: string): ClientFrame {
  const frame = parseObject(text)
  const type = frame?.['type']
  if (frame === undefined || (type !== 'subscribe' && type !== 'unsubscribe')) return { type: 'foreign' }
  const problems: FieldError[] = []
  const inboxIds = idList(frame, 'inbox_ids', problems)?.map((id) => id.toLowerCase())
  const podIds = idList(frame, 'pod_ids', problems)
  const eventTypes = type === 'subscribe' ? eventTypeList(frame, problems) : undefined
  if (problems.length > 0) throw new ApiError('validation_error', { errors: problems })
  return type === 'subscribe' ? { type, eventTypes, inboxIds, podIds } : { type, inboxIds, podIds }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Absent, `null` and empty mean the same: not given. */
function stringList(frame: Record<string, unknown>, name: string, problems: FieldError[]): string[] | undefined {
  const value = frame[name]
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) {
    problems.push({ path: [name], message: 'Must be a list of strings' })
    return undefined
  }
  const strings = value.filter((item) => typeof item === 'string')
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string') problems.push({ path: [name, index], message: 'Must be a string' })
  }
  return strings.length > 0 ? [...new Set(strings)] : undefined
}

function idList(frame: Record<string, unknown>, name: string, problems: FieldError[]): string[] | undefined {
  const ids = stringList(frame, name, problems)
  if (ids && ids.length > LIMITS.event.filterIds) {
    problems.push({ path: [name], message: `Must name at most ${LIMITS.event.filterIds} ids` })
  }
  return ids
}

function eventTypeList(frame: Record<string, unknown>, problems: FieldError[]): EventType[] | undefined {
  const names = stringList(frame, 'event_types', problems)
  for (const [index, name] of (names ?? []).entries()) {
    if (!isEventType(name)) {
      problems.push({
        path: ['event_types', index],
        message: `Unknown event type: ${name}. Known: ${EVENT_TYPES.join(', ')}`,
      })
    }
  }
  return names?.filter(isEventType)
}
