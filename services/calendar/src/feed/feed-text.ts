import type { Queryable } from '@restante/service/database'
import { seriesComponents, subscribedObject, written, zonesOf } from '../icalendar/write/index.ts'
import { loadStates } from '../store/index.ts'
import { type FeedEvent, type FeedRow, listFeedEvents } from './store.ts'

/** Events that are in memory at a time; one can have hundreds of edits. */
const BATCH = 20
const DAY = 24 * 60 * 60 * 1_000
/** Events that have all ended earlier are left out. */
const SHOWN = 366 * DAY
const END = 'END:VCALENDAR\r\n'

/**
 * The file of a feed: the events of a calendar by their first starts, each with the dates that differ. A zone is described
 * before the first event in it, from that event on.
 */
export async function* feedText(
  on: Queryable,
  { inbox_uid: inboxUid, address }: FeedRow,
): AsyncGenerator<string, void> {
  const at = new Date()
  const since = new Date(at.getTime() - SHOWN)
  const zones = new Set<string>()
  yield withoutEnd(subscribedObject(address, []))
  let last: FeedEvent | undefined
  do {
    const keys = await listFeedEvents(on, inboxUid, since, last, BATCH)
    const ids = keys.map(({ id }) => id)
    const states = new Map((await loadStates(on, inboxUid, ids)).map((state) => [state.event.id, state]))
    const components = ids.flatMap((id) => {
      const state = states.get(id)
      return state ? seriesComponents(state, { address, at }, () => true) : []
    })
    const described = zonesOf(components)
      .map(written)
      .filter((zone) => isNew(zones, zone))
    yield [...described, ...components.map(written)].join('')
    last = keys.length < BATCH ? undefined : keys.at(-1)
  } while (last !== undefined)
  yield END
}

function withoutEnd(file: string): string {
  return file.slice(0, file.lastIndexOf(END))
}

/** Whether a zone was not described before, of which the first description begins earliest. */
function isNew(known: Set<string>, zone: string): boolean {
  const [name = ''] = /^TZID:.*$/m.exec(zone) ?? []
  return known.size < known.add(name).size
}
