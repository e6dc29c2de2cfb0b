import type { BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { summarize } from '../../harness/statistics.ts'
import { usageOf } from '../processes.ts'
import type { Exchange } from './exchange.ts'
import type { TokenEndpoint } from './token-endpoint.ts'

/** A provider whose exchanges are measured. */
export interface MeasuredProvider {
  readonly name: string
  readonly endpoint: TokenEndpoint
  /** Its processes. */
  readonly pids: readonly number[]
  /** Issues a batch of codes, which is not measured. */
  issue(): Promise<readonly Exchange[]>
}

interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Of its processes, in milliseconds. */
  readonly cpu: number
}

export const MANY = 32
/** The providers are measured alternately, so that other load on the machine affects both. */
const ROUNDS = 8
const WARM_UP = 4
/** Batches of one provider. */
export const BATCHES = WARM_UP + 2 * ROUNDS

/** Compares two providers: exchanges with many concurrent clients, and for a single one. */
export async function compareExchanges(
  context: BenchContext,
  ours: MeasuredProvider,
  theirs: MeasuredProvider,
): Promise<Figure[]> {
  context.say(`warming ${ours.name} and ${theirs.name} up ...`)
  await alternate([ours, theirs], WARM_UP, MANY)
  context.say(`exchanging codes, ${MANY} at once and one at a time ...`)
  const many = await alternate([ours, theirs], ROUNDS, MANY)
  const alone = await alternate([ours, theirs], ROUNDS, 1)
  const compare = (what: string, unit: Figure['unit'], of: (measured: Measured) => number, [our, their]: Pair) => ({
    name: `code exchange: ${what}`,
    value: of(our),
    unit,
    reference: { what: theirs.name, value: of(their) },
  })
  return [
    compare(`exchanges, ${MANY} at once`, '/s', ({ perSecond }) => perSecond, many),
    compare(`p99, ${MANY} at once`, 'ms', ({ p99 }) => p99, many),
    compare(`CPU of ${ours.name}`, 'ms', ({ cpu }) => cpu, many),
    compare('p50, one at a time', 'ms', ({ p50 }) => p50, alone),
    compare('p99, one at a time', 'ms', ({ p99 }) => p99, alone),
  ]
}

type Pair = readonly [ours: Measured, theirs: Measured]

async function alternate(
  [ours, theirs]: readonly [MeasuredProvider, MeasuredProvider],
  rounds: number,
  atOnce: number,
): Promise<Pair> {
  const [our, their] = [new Sample(ours, atOnce), new Sample(theirs, atOnce)]
  for (let round = 0; round < rounds; round++) {
    await our.batch()
    await their.batch()
  }
  return [our.measured(), their.measured()]
}

/** All batches of one provider, as one sample. */
class Sample {
  readonly #provider: MeasuredProvider
  readonly #atOnce: number
  readonly #took: number[] = []
  #seconds = 0
  #cpu = 0

  constructor(provider: MeasuredProvider, atOnce: number) {
    this.#provider = provider
    this.#atOnce = atOnce
  }

  async batch(): Promise<void> {
    const codes = await this.#provider.issue()
    const before = await this.#cpuNow()
    const { seconds, took } = await this.#provider.endpoint.exchange(codes, this.#atOnce)
    this.#cpu += (await this.#cpuNow()) - before
    this.#seconds += seconds
    this.#took.push(...took)
  }

  measured(): Measured {
    const { count, p50, p99 } = summarize(this.#took)
    return { perSecond: count / this.#seconds, p50, p99, cpu: this.#cpu / count }
  }

  async #cpuNow(): Promise<number> {
    const usages = await Promise.all(this.#provider.pids.map(usageOf))
    return usages.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  }
}
