import { type Logger, type Part, type Queryable, sql } from '@restante/service'
import { pause } from '../pause.ts'

/** Marks events as done by a consumer, and tells which of them were not done before. Waits for a concurrent doer's end. */
export const MARK = sql<{ event_id: string }, [consumer: string, ids: readonly string[]]>(`
insert into consumed (consumer, event_id)
select $1, event_id from unnest($2::text[]) as fresh(event_id) order by event_id
on conflict do nothing
returning event_id`)

/** A first look before outside work is done for an event; the mark itself decides. */
export const IS_MARKED = sql<{ marked: boolean }, [consumer: string, id: string]>(
  'select exists (select from consumed where consumer = $1 and event_id = $2) as marked',
)

const SWEEP = sql<{ consumer: string }, [rows: number]>(`
delete from consumed
 where (consumer, event_id) in (select consumer, event_id from consumed
                                 where consumed_at < now() - interval '21 days'
                                 order by consumed_at limit $1)
returning consumer`)

const SWEEP_ROWS = 5_000
const SWEEP_EVERY_MS = 3_600_000

/** Removes marks after 21 days: longer than any topic or dead letter keeps the event that they guard against. */
export class MarkSweeper implements Part {
  readonly name = 'mark sweeper'
  readonly #db: Queryable
  readonly #log: Logger
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: { db: Queryable; log: Logger }) {
    this.#db = options.db
    this.#log = options.log
  }

  async start(): Promise<void> {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      // Somewhere within the hour, so that replicas that start together do not sweep together.
      await pause(SWEEP_EVERY_MS * (0.5 + Math.random()), this.#stop.signal)
      if (this.#stop.signal.aborted) return
      await this.sweep().catch((error: unknown) => this.#log.warn({ reason: String(error) }, 'marks were not swept'))
    }
  }

  /** @returns how many marks were removed. */
  async sweep(): Promise<number> {
    for (let swept = 0; ; ) {
      const rows = await this.#db.query(SWEEP, SWEEP_ROWS)
      swept += rows.length
      if (rows.length < SWEEP_ROWS || this.#stop.signal.aborted) return swept
    }
  }
}
