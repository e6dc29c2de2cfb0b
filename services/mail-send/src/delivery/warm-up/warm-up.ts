import { type Queryable, sql } from '@restante/service/database'

export interface WarmUpOptions {
  /** The address that warms up, by the name under which it greets. Processes with the same name count together. */
  readonly source: string
  /** The first day, UTC. */
  readonly from: Date
  /** Recipients on the first day. */
  readonly start: number
  /** In this time the volume doubles. */
  readonly doublingMs: number
}

type Counting = [source: string, day: string]

const COUNTED = sql<{ recipients: number }, Counting>(
  'select recipients from warm_up_counts where source = $1 and day = $2::date',
)
const COUNT = sql<{ recipients: number }, [...Counting, volume: number]>(`
insert into warm_up_counts as counted (source, day, recipients) values ($1, $2::date, 1)
on conflict (source, day) do update set recipients = counted.recipients + 1 where counted.recipients < $3::int
returning recipients`)

/** Days that count no more. */
export const FORGET_WARM_UP_COUNTS = `delete from warm_up_counts where (source, day) in (select source, day from warm_up_counts
    where day < (now() at time zone 'utc')::date - 30 limit $1)
   returning 1 as one`

const DAY_MS = 24 * 3_600_000
/** What waits for the next day does not all begin at midnight. */
const SPREAD_MS = 3_600_000
/** More than any installation sends in a day, and an integer of the database. */
const MOST = 2_000_000_000

/** Recipients that a source may send to on a day. */
export function volumeOn({ from, start, doublingMs }: Omit<WarmUpOptions, 'source'>, now: Date): number {
  const days = Math.max(0, Math.floor((now.getTime() - from.getTime()) / DAY_MS))
  return Math.min(MOST, Math.floor(start * 2 ** ((days * DAY_MS) / doublingMs)))
}

/** Limits the daily volume of a new source address, which receivers do not trust yet; what is above it waits. */
export class WarmUp {
  readonly #options: WarmUpOptions

  constructor(options: WarmUpOptions) {
    this.#options = options
  }

  /** A time in the next window, when the volume of today is used up; otherwise undefined. */
  async closedUntil(on: Queryable, now = new Date()): Promise<Date | undefined> {
    const [counted] = await on.query(COUNTED, this.#options.source, dayOf(now))
    if (!counted || counted.recipients < volumeOn(this.#options, now)) return undefined
    return new Date(Math.floor(now.getTime() / DAY_MS + 1) * DAY_MS + Math.random() * SPREAD_MS)
  }

  /** Counts one recipient, in the transaction that begins its delivery. @returns whether the volume had room for it. */
  async count(on: Queryable, now = new Date()): Promise<boolean> {
    return (await on.query(COUNT, this.#options.source, dayOf(now), volumeOn(this.#options, now))).length > 0
  }
}

function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10)
}
