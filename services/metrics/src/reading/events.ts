import type { CountedEventType } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { periodSums, pointTimes } from '../series/read.ts'
import type { Scope } from '../series/series.ts'
import type { Range } from './range.ts'

/** Events of one period, or one event. */
export interface Counted {
  readonly at: number
  readonly count: number
}

interface Question {
  readonly scope: Scope
  readonly types: readonly CountedEventType[]
  readonly range: Range
  /** Most entries of each type. */
  readonly limit: number
  readonly descending: boolean
}

/** What was found so far, by type, in the chosen order. */
type Found = Map<CountedEventType, Counted[]>

/** How many times further a step looks than all before it, where these have found nothing of what is missing. */
const LEAP = 16
/** The least that a step looks further, as a part of what all before it have looked through: their number stays small. */
const STRIDE = 0.5
/** Events are not spread evenly, so a step looks a little further than their number suggests. */
const MARGIN = 1.1
/** What the first step through single events looks through, in milliseconds. */
const FIRST_SPAN = 3_600_000

/** Counts events by type in periods of milliseconds; periods without events are left out. */
export function countByPeriod(
  on: Queryable,
  { period, ...question }: Question & { readonly period: number },
): Promise<Found> {
  const { scope, range, limit } = question
  const periods = Math.ceil((range.to - range.from) / period)
  return inSteps(question, { length: periods, first: limit }, async (types, { begin, end }) => {
    const from = range.from + begin * period
    const grid = { from, to: Math.min(range.from + end * period, range.to), period }
    const sums = await periodSums(on, scope, types, grid)
    const entries = [...sums].map(([type, found]) => {
      const counted = found.map(({ index, sum }) => ({ at: from + index * period, count: sum }))
      return [type, question.descending ? counted.toReversed() : counted] as const
    })
    return new Map(entries)
  })
}

/** Lists events by type, one entry each. */
export function listEvents(on: Queryable, question: Question): Promise<Found> {
  const { scope, range, limit, descending } = question
  return inSteps(question, { length: range.to - range.from, first: FIRST_SPAN }, async (types, { begin, end }) => {
    const part = { from: range.from + begin, to: range.from + end, limit, descending }
    const times = await pointTimes(on, scope, types, part)
    return new Map([...times].map(([type, found]) => [type, found.map((at) => ({ at, count: 1 }))] as const))
  })
}

/**
 * Looks through a range from its first end in the chosen order, until there is enough of every type: what is asked for is
 * read, and not the whole range. Positions in it are periods, or milliseconds.
 */
async function inSteps(
  { types, limit, descending }: Question,
  { length, first }: { readonly length: number; readonly first: number },
  look: (types: readonly CountedEventType[], step: { begin: number; end: number }) => Promise<Found>,
): Promise<Found> {
  const found: Found = new Map(types.map((type) => [type, []]))
  const amount = (type: CountedEventType) => found.get(type)?.length ?? 0
  let open = types
  for (let done = 0, span = first; done < length && open.length > 0; ) {
    const reach = Math.min(done + span, length)
    const step = descending ? { begin: length - reach, end: length - done } : { begin: done, end: reach }
    for (const [type, entries] of await look(open, step)) found.get(type)?.push(...entries)
    open = open.filter((type) => amount(type) < limit)
    done = reach
    span = nextSpan(done, Math.max(0, ...open.map(amount)), limit)
  }
  return new Map([...found].map(([type, entries]) => [type, entries.slice(0, limit)]))
}

/** How far the next step looks, so that the type of which most was found is likely to be complete. */
function nextSpan(done: number, most: number, limit: number): number {
  const expected = most === 0 ? done * LEAP : (done * (limit - most) * MARGIN) / most
  return Math.ceil(Math.max(expected, done * STRIDE))
}
