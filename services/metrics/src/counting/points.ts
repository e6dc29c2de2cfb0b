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

/** What an event adds. */
export interface EventPoints {
  readonly counted: readonly Point[]
  /** What leaves the scopes above a deleted inbox again. No event carries it. */
  readonly withdrawn: readonly Point[]
}

const NONE: EventPoints = { counted: [], withdrawn: [] }

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
export function pointsOf({ routing, at, changes }: CountedEvent, deletions: Deletions): EventPoints {
  if (deletions.has(routing.organizationId)) return NONE
  const live = scopesOf(routing).filter(({ id }) => !deletions.has(id))
  const counted = changes.flatMap(({ series, value }) => live.map((scope): Point => ({ scope, series, at, value })))
  const deletedAt = routing.inboxUid === undefined ? undefined : deletions.get(routing.inboxUid)
  if (deletedAt === undefined) return { counted, withdrawn: [] }
  const withdrawn = counted
    .filter(({ series }) => isUsage(series))
    .map((point) => ({ ...point, at: Math.max(at, deletedAt), value: -point.value }))
  return { counted, withdrawn }
}

function isUsage(series: SeriesName): boolean {
  return USAGE_SERIES.has(codeOf(series))
}
