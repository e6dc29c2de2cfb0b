import type { EventRouting } from '@restante/contracts/events'
import type { Tier } from '@restante/contracts/vocabulary'
import { codeOf, type Point, type Scope, type SeriesName, USAGE_SERIES } from '../series/series.ts'
import type { Change } from './changes.ts'

/** The changes of an event, and the scopes that it names. */
export interface CountedEvent {
  readonly routing: EventRouting
  readonly at: number
  readonly changes: readonly Change[]
}

/** When scopes were deleted, by their ids, in milliseconds since 1970. */
export type Deletions = ReadonlyMap<string, number>

/** The scopes that an event names, widest first. */
export function scopesOf({ organizationId, podId, inboxUid }: EventRouting): Scope[] {
  const named: [Tier, string | undefined][] = [
    ['organization', organizationId],
    ['pod', podId],
    ['inbox', inboxUid],
  ]
  return named.flatMap(([tier, id]) => (id === undefined ? [] : [{ tier, id }]))
}

/**
 * The points of an event. A deleted scope gets none. What is stored in a deleted inbox leaves its pod and its organization at
 * the deletion: an event that arrives after it counts for them until then (identity 9.1, 10.1).
 */
export function pointsOf({ routing, at, changes }: CountedEvent, deletions: Deletions): Point[] {
  if (deletions.has(routing.organizationId)) return []
  const live = scopesOf(routing).filter(({ id }) => !deletions.has(id))
  const deletedAt = routing.inboxUid === undefined ? undefined : deletions.get(routing.inboxUid)
  return changes.flatMap(({ series, value }) => {
    const counted = live.map((scope): Point => ({ scope, series, at, value }))
    if (deletedAt === undefined || !isUsage(series)) return counted
    return [...counted, ...counted.map((point) => ({ ...point, at: Math.max(at, deletedAt), value: -value }))]
  })
}

function isUsage(series: SeriesName): boolean {
  return USAGE_SERIES.has(codeOf(series))
}
