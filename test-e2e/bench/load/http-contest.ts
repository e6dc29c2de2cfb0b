import { z } from 'zod'
import type { BenchContext } from '../harness/bench.ts'
import type { Figure } from '../harness/figures.ts'
import { quantile } from '../harness/statistics.ts'
import { Program } from '../programs/program.ts'
import { usageOf } from './processes.ts'

/** Something that answers the same GET. */
export interface Contender {
  readonly name: string
  readonly url: string
  readonly pid: number
}

export interface Contest {
  /** What is asked for, in the names of figures. */
  readonly name: string
  readonly key: string
  readonly ours: Contender
  readonly theirs: Contender
}

interface Round {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly cpuPerRequest: number
}

const MANY = 32
/** Both take turns, so that whatever else the machine does in the meantime meets both. */
const ROUNDS = 3
const SECONDS = 4

/** Compares two servers: how much they take from many clients at once, how late one client alone is answered. */
export async function compete(context: BenchContext, contest: Contest): Promise<Figure[]> {
  const { name, ours, theirs } = contest
  const many = await takeTurns(context, contest, MANY)
  const alone = await takeTurns(context, contest, 1)
  const compare = (what: string, unit: Figure['unit'], of: (round: Round) => number, [our, their]: Rounds): Figure => ({
    name: `${name}: ${what}`,
    value: median(our.map(of)),
    unit,
    beside: { what: theirs.name, value: median(their.map(of)) },
  })
  context.say(`${name}: ${ours.name} beside ${theirs.name} measured`)
  return [
    compare(`requests, ${MANY} at once`, '/s', ({ perSecond }) => perSecond, many),
    compare(`p99, ${MANY} at once`, 'ms', ({ p99 }) => p99, many),
    compare('CPU per request', 'µs', ({ cpuPerRequest }) => cpuPerRequest, many),
    compare('p50, one at a time', 'ms', ({ p50 }) => p50, alone),
    compare('p99, one at a time', 'ms', ({ p99 }) => p99, alone),
  ]
}

type Rounds = readonly [ours: Round[], theirs: Round[]]

async function takeTurns(context: BenchContext, contest: Contest, connections: number): Promise<Rounds> {
  const rounds: Rounds = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    rounds[0].push(await measure(context, contest.ours, contest.key, connections))
    rounds[1].push(await measure(context, contest.theirs, contest.key, connections))
  }
  return rounds
}

const result = z.object({ requests: z.number(), seconds: z.number(), p50: z.number(), p99: z.number() })

async function measure(
  context: BenchContext,
  { url, pid }: Contender,
  key: string,
  connections: number,
): Promise<Round> {
  const seconds = context.quick ? SECONDS / 10 : SECONDS
  const load = Program.start('http-load', { url, key, connections, seconds })
  try {
    await load.next(z.object({}))
    const before = await usageOf(pid)
    load.goOn()
    const { requests, seconds: took, p50, p99 } = await load.next(result)
    const after = await usageOf(pid)
    return { perSecond: requests / took, p50, p99, cpuPerRequest: ((after.cpuMs - before.cpuMs) * 1000) / requests }
  } finally {
    await load.stop()
  }
}

function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}
