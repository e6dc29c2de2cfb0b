import type { RecordedEvent } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import { holdAmong } from '@restante/tenancy'
import { addPoints, type PointTable } from '../series/add.ts'
import type { Point } from '../series/series.ts'
import { changesOf } from './changes.ts'
import { rememberScopes } from './entities.ts'
import { type CountedEvent, pointsOf, scopesOf } from './points.ts'

/** Counts events for the scopes that they name, each of which stays undeleted until the transaction ends. */
export async function countEvents(
  tx: Tx,
  recorded: readonly RecordedEvent[],
  tables: readonly PointTable[] = ['arrivals'],
): Promise<void> {
  const events = recorded.map(
    (event): CountedEvent => ({ routing: event.routing, at: event.time.getTime(), changes: changesOf(event) }),
  )
  const deleted = await holdAmong(
    tx,
    events.flatMap(({ routing }) => scopesOf(routing).map(({ id }) => id)),
  )
  const deletions = new Map([...deleted].map(([id, at]) => [id, at.getTime()]))
  const points = events.flatMap((event) => pointsOf(event, deletions))
  await rememberScopes(tx, scopesBelow(events, points))
  for (const table of tables) await addPoints(tx, points, table)
}

/** The pods and inboxes that get points, each once, with their organizations. */
function scopesBelow(events: readonly CountedEvent[], points: readonly Point[]) {
  const organizations = new Map(
    events.flatMap(({ routing }) => scopesOf(routing).map(({ tier, id }) => [`${tier} ${id}`, routing.organizationId])),
  )
  const scopes = new Map(points.map(({ scope }) => [`${scope.tier} ${scope.id}`, scope]))
  return [...scopes].flatMap(([key, { tier: kind, id }]) => {
    const organizationId = organizations.get(key)
    return kind === 'organization' || organizationId === undefined ? [] : [{ id, kind, organizationId }]
  })
}
