import type { RecordedEvent } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import { holdAmong } from '@restante/tenancy'
import { addAdjustments, addPoints } from '../series/add.ts'
import type { Point } from '../series/series.ts'
import { changesOf } from './changes.ts'
import { rememberScopes } from './entities.ts'
import { type CountedEvent, type EventPoints, pointsOf, scopesOf } from './points.ts'
import { holdRebuild, markForRebuild, type RunningRebuild } from './running-rebuild.ts'

type Counted = CountedEvent & EventPoints & { readonly recorded: RecordedEvent }

/**
 * Counts events for the scopes that they name, each of which stays undeleted until the transaction ends. While a rebuild
 * runs, it gets them too, unless it has read them.
 */
export async function countEvents(tx: Tx, recorded: readonly RecordedEvent[]): Promise<void> {
  const rebuild = await holdRebuild(tx)
  const unread = rebuild === undefined ? new Set<RecordedEvent>() : await markForRebuild(tx, rebuild, recorded)
  const events = await countable(tx, recorded)
  const withdrawn = events.flatMap((event) => event.withdrawn)
  await addPoints(tx, [...events.flatMap(({ counted }) => counted), ...withdrawn])
  await addAdjustments(tx, withdrawn)
  await addPoints(
    tx,
    events.flatMap(({ recorded: event, counted }) => (unread.has(event) ? counted : [])),
    'rebuilt',
  )
}

/**
 * Counts events for a rebuild only, unless it has them. What leaves the scopes above deleted inboxes is not counted again: the
 * live points of it are kept.
 */
export async function countForRebuild(
  tx: Tx,
  rebuild: RunningRebuild,
  recorded: readonly RecordedEvent[],
): Promise<void> {
  const unread = await markForRebuild(tx, rebuild, recorded)
  const events = await countable(tx, [...unread])
  await addPoints(
    tx,
    events.flatMap(({ counted }) => counted),
    'rebuilt',
  )
}

/** The points of events, whose scopes are held and remembered. */
async function countable(tx: Tx, recorded: readonly RecordedEvent[]): Promise<Counted[]> {
  const events = recorded.map((event) => ({
    recorded: event,
    routing: event.routing,
    at: event.time.getTime(),
    changes: changesOf(event),
  }))
  const deleted = await holdAmong(
    tx,
    events.flatMap(({ routing }) => scopesOf(routing).map(({ id }) => id)),
  )
  const deletions = new Map([...deleted].map(([id, at]) => [id, at.getTime()]))
  const counted = events.map((event) => ({ ...event, ...pointsOf(event, deletions) }))
  await rememberScopes(tx, scopesBelow(counted))
  return counted
}

/** The pods and inboxes that get points, each once, with the organizations and pods that they are in. */
function scopesBelow(events: readonly Counted[]) {
  const routings = new Map(
    events.flatMap(({ routing }) => scopesOf(routing).map(({ tier, id }) => [`${tier} ${id}`, routing])),
  )
  const points = events.flatMap(({ counted }): readonly Point[] => counted)
  const scopes = new Map(points.map(({ scope }) => [`${scope.tier} ${scope.id}`, scope]))
  return [...scopes].flatMap(([key, { tier: kind, id }]) => {
    const routing = routings.get(key)
    if (kind === 'organization' || routing === undefined) return []
    return [{ id, kind, organizationId: routing.organizationId, podId: kind === 'inbox' ? routing.podId : undefined }]
  })
}
