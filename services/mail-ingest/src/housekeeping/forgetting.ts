import { type Logger, type Part, sql } from '@restante/service'
import type { Db } from '../database.ts'
import { Ticker } from './ticker.ts'

/** Longer than deliveries are retried (72 h), and than any topic or dead letter could bring their facts back. */
const FORGET = '21 days'

const TOMBSTONES = sql<{ message_id: string }, [rows: number]>(`
delete from tombstones
 where (inbox_uid, message_id) in (select inbox_uid, message_id from tombstones
                                    where deleted_at < now() - interval '${FORGET}' limit $1)
returning message_id`)
const FACTS = sql<{ event_id: string }, [rows: number]>(`
delete from pending_facts
 where event_id in (select event_id from pending_facts where time < now() - interval '${FORGET}' limit $1)
returning event_id`)

const BATCH = 1_000
const EVERY_MS = 3_600_000

/** Forgets deleted messages, and facts about messages that never came, after 21 days. */
export class Forgetting implements Part {
  readonly name = 'forgetting'
  readonly #db: Db
  readonly #ticker: Ticker

  constructor(options: { db: Db; log: Logger }) {
    this.#db = options.db
    this.#ticker = new Ticker({ name: this.name, everyMs: EVERY_MS, log: options.log, work: () => this.forget() })
  }

  async start(): Promise<void> {
    this.#ticker.start()
  }

  async stop(): Promise<void> {
    await this.#ticker.stop()
  }

  async forget(): Promise<void> {
    for (const statement of [TOMBSTONES, FACTS] as const) {
      while ((await this.#db.query<unknown, [number]>(statement, BATCH)).length === BATCH);
    }
  }
}
