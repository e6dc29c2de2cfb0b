import type { BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { quantile } from '../../harness/statistics.ts'
import { measureRound, type Round } from './round.ts'

/** A server that answers the GET. */
export interface HttpServer {
  readonly name: string
  readonly url: string
  readonly pid: number
}

export interface Comparison {
  /** Prefix of the names of figures. */
  readonly name: string
  readonly key: string
  readonly ours: HttpServer
  readonly theirs: HttpServer
}

const MANY = 32
/** The servers are measured alternately, so that other load on the machine affects both. */
const ROUNDS = 3
const SECONDS = 4

/** Compares two servers: throughput with many concurrent clients, and latency for a single client. */
export async function compareServers(context: BenchContext, comparison: Comparison): Promise<Figure[]> {
  const { name, ours, theirs } = comparison
  const many = await alternate(context, comparison, MANY)
  const alone = await alternate(context, comparison, 1)
  const compare = (what: string, unit: Figure['unit'], of: (round: Round) => number, [our, their]: Rounds): Figure => ({
    name: `${name}: ${what}`,
    value: median(our.map(of)),
    unit,
    reference: { what: theirs.name, value: median(their.map(of)) },
  })
  context.say(`${name}: ${ours.name} and ${theirs.name} measured`)
  return [
    compare(`requests, ${MANY} at once`, '/s', ({ perSecond }) => perSecond, many),
    compare(`p99, ${MANY} at once`, 'ms', ({ p99 }) => p99, many),
    compare('CPU per request', 'µs', ({ cpuPerRequest }) => cpuPerRequest, many),
    compare('p50, one at a time', 'ms', ({ p50 }) => p50, alone),
    compare('p99, one at a time', 'ms', ({ p99 }) => p99, alone),
  ]
}

type Rounds = readonly [ours: Round[], theirs: Round[]]

async function alternate(
  context: BenchContext,
  { ours, theirs, key }: Comparison,
  connections: number,
): Promise<Rounds> {
  const measure = ({ url, pid }: HttpServer) =>
    measureRound(context, { url, pid, credentials: { bearer: key }, connections, seconds: SECONDS })
  const rounds: Rounds = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    rounds[0].push(await measure(ours))
    rounds[1].push(await measure(theirs))
  }
  return rounds
}

function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}
