import { type Logger, type Part, Periodic, sql } from '@restante/service'
import type { Db } from '../database.ts'

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
  readonly #turns: Periodic

  constructor(options: { db: Db; log: Logger }) {
    this.#db = options.db
    this.#turns = new Periodic({ name: this.name, everyMs: EVERY_MS, log: options.log, work: () => this.forget() })
  }

  start(): Promise<void> {
    return this.#turns.start()
  }

  /** Lets the turn that runs come to its end. */
  stop(): Promise<void> {
    return this.#turns.stop()
  }

  async forget(): Promise<void> {
    for (const statement of [TOMBSTONES, FACTS] as const) {
      while ((await this.#db.query<unknown, [number]>(statement, BATCH)).length === BATCH);
    }
  }
}
