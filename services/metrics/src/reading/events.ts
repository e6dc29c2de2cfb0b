import type { CountedEventType } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import type { Grid, Span } from '../series/grid.ts'
import { pointsByDay, probe, scan } from '../series/read.ts'
import { DAY_MS, type Scope } from '../series/series.ts'
import { type PeriodSum, periodSumsOf } from '../series/sums.ts'
import type { Range } from './range.ts'
import { type Bounds, rangeOfBounds, type Step, stepOf } from './steps.ts'

interface Question {
  readonly scope: Scope
  readonly types: readonly CountedEventType[]
  readonly range: Range
  /** Most entries of each type. */
  readonly limit: number
  readonly descending: boolean
}

type Found = Map<CountedEventType, PeriodSum[]>
type TypeSpan = Span<CountedEventType>
type TypeStep = TypeSpan & Step

/** Of fewer days, those of rare types are read faster than looked up. */
const MANY_DAYS = 16

/** How much further a step looks than the one before it, which found less than planned, and how much it does at most. */
const LEAP = { factor: 4, most: 16 } as const

/**
 * How much of a range is looked at first, in milliseconds, and in periods for each entry that is asked for: then nothing is read
 * about the other days, unless types are too rare to have their entries there.
 */
const NEAR = { ms: 2 * DAY_MS, periods: 2 } as const

/**
 * Counts events by type in periods of milliseconds, in the chosen order; periods without events are left out. What is asked for
 * is read, and not the whole range: one look at the days tells how far to read of each type, which is mostly enough.
 */
export async function countByPeriod(on: Queryable, question: Question & { readonly period: number }): Promise<Found> {
  const { types, range, limit, period } = question
  const found: Found = new Map(types.map((type) => [type, []]))
  const grid = { ...range, period }
  for (const part of partsOf(question)) await countIn(on, question, part, { found, grid })
  return new Map([...found].map(([type, entries]) => [type, entries.slice(0, limit)]))
}

/** The parts of a range, in the chosen order. */
function partsOf({ range, period, limit, descending }: Question & { readonly period: number }): Bounds[] {
  const last = Math.ceil((range.to - range.from) / period)
  const near = Math.max(Math.ceil(NEAR.ms / period), NEAR.periods * limit)
  if (near > last / 2) return [{ first: 0, last }]
  const cut = descending ? last - near : near
  const parts = [
    { first: 0, last: cut },
    { first: cut, last },
  ]
  return descending ? parts.toReversed() : parts
}

interface Progress {
  readonly found: Found
  readonly grid: Grid
}

/** Adds what one part of the range has, for the types that have fewer entries yet than are asked for. */
async function countIn(
  on: Queryable,
  { scope, limit, descending }: Question,
  part: Bounds,
  { found, grid }: Progress,
): Promise<void> {
  const missing = (type: CountedEventType) => limit - (found.get(type)?.length ?? 0)
  const wanted = [...found.keys()].filter((type) => missing(type) > 0)
  if (wanted.length === 0) return
  const take = async (steps: readonly TypeStep[]) => {
    for (const [series, inOrder] of await look(on, scope, steps, grid)) {
      found.get(series)?.push(...(descending ? inOrder.toReversed() : inOrder))
    }
  }
  if (isWanted(part, limit, grid)) return take(wanted.map((series) => ({ series, ...part, probed: true })))
  const days = await daysOf(on, scope, wanted, rangeOfBounds(grid, part))
  let open = [...days.keys()].map((series): TypeSpan => ({ series, ...part }))
  for (let leap = 1; open.length > 0; leap = Math.min(leap * LEAP.factor, LEAP.most)) {
    const steps = open.map((left): TypeStep => {
      const periods = missing(left.series) * leap
      const step = stepOf(days.get(left.series) ?? new Map(), grid, left, { periods, descending })
      return { series: left.series, ...step }
    })
    await take(steps)
    open = open
      .map((left, index) => restOf(left, steps[index] ?? left, descending))
      .filter((left) => left.first < left.last && missing(left.series) > 0)
  }
}

/** Whether all of a part is wanted, of so many days that how full they are need not be asked: looking bounds up reads them, too. */
function isWanted({ first, last }: Bounds, limit: number, { period }: Grid): boolean {
  return last - first <= limit && (last - first) * period >= MANY_DAYS * DAY_MS
}

/** Lists events by type in the chosen order, one entry each: those of a millisecond are counted together, and told apart here. */
export async function listEvents(on: Queryable, question: Question): Promise<Found> {
  const { limit } = question
  const counted = await countByPeriod(on, { ...question, period: 1 })
  return new Map(
    [...counted].map(([type, sums]) => {
      const events = sums.flatMap((one) =>
        one.sum === 1 ? one : new Array<PeriodSum>(Math.min(one.sum, limit)).fill({ ...one, sum: 1 }),
      )
      return [type, events.slice(0, limit)]
    }),
  )
}

/** How many events of each type each day has: halves of the types are asked for at once. */
async function daysOf(on: Queryable, scope: Scope, types: readonly CountedEventType[], range: Range) {
  const middle = Math.ceil(types.length / 2)
  const halves = [types.slice(0, middle), types.slice(middle)].filter(({ length }) => length > 0)
  const found = await Promise.all(halves.map((half) => pointsByDay(on, scope, half, range)))
  return new Map(found.flatMap((half) => [...half]))
}

/** The sums of the periods of steps. PostgreSQL works on one statement with one core, so halves of the time are asked for at once. */
async function look(on: Queryable, scope: Scope, steps: readonly TypeStep[], grid: Grid): Promise<Found> {
  const halves = [steps.map(firstHalf), steps.map(secondHalf)]
  const found = await Promise.all(
    halves.map(async (half) => {
      const sums = await sumsIn(on, scope, half, grid)
      return new Map(half.map(({ series, first }) => [series, periodSumsOf(sums.get(series), first)]))
    }),
  )
  return new Map(steps.map(({ series }) => [series, found.flatMap((half) => half.get(series) ?? [])]))
}

function firstHalf(step: TypeStep): TypeStep {
  return { ...step, last: Math.floor((step.first + step.last) / 2) }
}

function secondHalf(step: TypeStep): TypeStep {
  return { ...step, first: Math.floor((step.first + step.last) / 2) }
}

async function sumsIn(on: Queryable, scope: Scope, steps: readonly TypeStep[], grid: Grid) {
  const some = steps.filter(({ first, last }) => first < last)
  const [probed, scanned] = [some.filter((step) => step.probed), some.filter((step) => !step.probed)]
  return new Map([...(await scan(on, scope, scanned, grid)), ...(await probe(on, scope, probed, grid))])
}

function restOf({ series, first, last }: TypeSpan, done: TypeSpan, descending: boolean): TypeSpan {
  return descending ? { series, first, last: done.first } : { series, first: done.last, last }
}
