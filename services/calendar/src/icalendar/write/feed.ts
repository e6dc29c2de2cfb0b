import type { EventState } from '../../model/rows.ts'
import { subscribedObject } from './object.ts'
import { seriesComponents } from './series.ts'

/** A calendar as programs subscribe to it: every event, and the dates of series that differ from them. */
export function feedObject(states: readonly EventState[], address: string, at = new Date()): string {
  const components = states.flatMap((state) => seriesComponents(state, { address, at }, () => true))
  return subscribedObject(address, components)
}
