import { heldAround, heldRecords, type Kafka, type RecordRange } from '@restante/messaging'
import { FACT_TOPICS } from '../counting/consumers.ts'
import { DAY_MS, dayOf } from '../series/series.ts'

/** Clocks of producers differ, and records of one second may be in another order than their times. */
const MARGIN_MS = 3_600_000

/** A rebuild that cannot succeed, however often it is tried. */
export class RebuildFailedError extends Error {
  override readonly name = 'RebuildFailedError'
}

/**
 * The first day of which the topics still hold every event, or that of the first event.
 * @param reach the first day of which anything may be asked; no earlier one is rebuilt.
 */
export async function firstWholeDay(kafka: Kafka, reach: number): Promise<number> {
  const around = (time: number) => heldAround(kafka, FACT_TOPICS, new Date(time))
  let day = dayOf(Date.now()) + 1
  while (day > reach) {
    const [begin, previous] = [day * DAY_MS, (day - 1) * DAY_MS]
    if (!(await around(begin)).hasEarlier || !(await around(previous - MARGIN_MS)).hasAllSince) break
    day--
  }
  return day
}

/**
 * What the topics hold now: a rebuild that has started reads it, and counts with the live points what comes after it.
 * @throws RebuildFailedError when events of the days that are rebuilt are gone already.
 */
export async function heldSince(kafka: Kafka, cutDay: number): Promise<RecordRange[]> {
  const held = await heldRecords(kafka, FACT_TOPICS)
  const { hasAllSince } = await heldAround(kafka, FACT_TOPICS, new Date(cutDay * DAY_MS))
  if (!hasAllSince) throw new RebuildFailedError('events were deleted by retention before they were read: start again')
  return held
}

/** @throws RebuildFailedError when records before one that was written at `at` are gone, and may be of days that are rebuilt. */
export function refuseLoss(
  { topic, partition }: { readonly topic: string; readonly partition: number },
  at: number,
  cutDay: number,
): void {
  if (at < cutDay * DAY_MS) return
  throw new RebuildFailedError(
    `events of ${topic}/${partition} were deleted by retention before they were read: start again`,
  )
}
