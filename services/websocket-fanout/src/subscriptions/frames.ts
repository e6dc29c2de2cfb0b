import type { EventType } from '@restante/contracts/access'
import {
  type SubscribeFrame,
  subscribeFrame,
  type UnsubscribeFrame,
  unsubscribeFrame,
} from '@restante/contracts/schemas'
import { validateBody } from '@restante/contracts/validation'
import { ApiError } from '@restante/service/errors'
import type { z } from 'zod'

interface Named {
  readonly inboxIds: readonly string[] | undefined
  readonly podIds: readonly string[] | undefined
  /** The lists as they were given, for the response. */
  readonly given: Readonly<Record<string, readonly unknown[]>>
}

/** A client's request after its shape was validated. An absent, `null` or empty list is `undefined`. */
export type ClientFrame =
  | ({
      readonly type: 'subscribe'
      readonly eventTypes: readonly EventType[] | undefined
      /** Whether its events carry cursors. */
      readonly cursors: boolean
      readonly resumeFrom: string | undefined
    } & Named)
  | ({ readonly type: 'unsubscribe' } & Named)
  /** Neither `subscribe` nor `unsubscribe`, or not a JSON object. */
  | { readonly type: 'foreign' }

/**
 * Reads one text frame (events 6.2).
 * @throws ApiError `validation_error` with every wrong member of a `subscribe` or `unsubscribe`.
 */
export function readFrame(text: string): ClientFrame {
  const frame = parseObject(text)
  switch (frame?.['type']) {
    case 'subscribe': {
      const checked = demand(subscribeFrame, frame)
      const given = listsOf(frame, ['event_types', 'inbox_ids', 'pod_ids'])
      const resumeFrom = checked.resume_from ?? undefined
      return {
        type: 'subscribe',
        eventTypes: filled(checked.event_types),
        cursors: checked.cursors === true || resumeFrom !== undefined,
        resumeFrom,
        ...ids(checked),
        given,
      }
    }
    case 'unsubscribe':
      return {
        type: 'unsubscribe',
        ...ids(demand(unsubscribeFrame, frame)),
        given: listsOf(frame, ['inbox_ids', 'pod_ids']),
      }
    default:
      return { type: 'foreign' }
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function demand<S extends z.ZodType>(schema: S, frame: Record<string, unknown>): z.output<S> {
  const result = validateBody(schema, frame)
  if (result.ok) return result.value
  throw new ApiError('validation_error', { errors: [...result.errors] })
}

function listsOf(frame: Record<string, unknown>, names: readonly string[]): Named['given'] {
  const lists: Record<string, readonly unknown[]> = {}
  for (const name of names) {
    const list = frame[name]
    if (Array.isArray(list)) lists[name] = list
  }
  return lists
}

function filled<T>(list: readonly T[] | null | undefined): readonly T[] | undefined {
  return list && list.length > 0 ? list : undefined
}

function ids(frame: SubscribeFrame | UnsubscribeFrame) {
  return { inboxIds: filled(frame.inbox_ids), podIds: filled(frame.pod_ids) }
}
