import { type Queryable, type Statement, sql, sqlUnprepared } from '../database/statement.ts'

/** A table of what is to be purged. It has a column `due_at`, and an index on owner and `due_at` of the open rows. */
export interface PurgeTable {
  readonly table: string
  /** Column that names what is purged; a uuid. */
  readonly id: string
  /** Column of whose it is; a uuid. */
  readonly owner: string
  /** Condition of the rows that are not purged yet: that of the partial index. */
  readonly open: string
}

export interface RoundRobinPurgerOptions<Tx extends Queryable> extends PurgeTable {
  readonly db: Queryable & { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> }
  /** Purges one batch of a row that `tx` holds, and says in its `due_at` when it goes on, or that it is purged. */
  readonly work: (tx: Tx, id: string) => Promise<void>
}

interface Turn {
  readonly id: string
  readonly owner: string
}

/** Below every owner. */
const NOBODY = '00000000-0000-0000-0000-000000000000'
/** What cannot be purged now, such as bytes that the store does not delete, is behind everything else for so long. */
const FAILED_MS = 60_000

/**
 * Purges batch by batch, a transaction each, and gives every owner one batch after the other: one who has a hundred
 * thousand things to be purged holds up nobody who has one. Each batch is of what is due for longest among its owner's.
 * Any number of processes may do so at once.
 */
export class RoundRobinPurger<Tx extends Queryable> {
  readonly #options: RoundRobinPurgerOptions<Tx>
  readonly #next: Statement<Turn, [after: string]>
  readonly #later: Statement<never, [id: string, waitMs: number]>
  /** Whose turn was the last one; kept when it failed, so that who follows has his, however many of its turns fail. */
  #after = NOBODY

  constructor(options: RoundRobinPurgerOptions<Tx>) {
    const { table, id } = options
    this.#options = options
    this.#next = nextTurn(options)
    this.#later = sql(`
update ${table} set due_at = clock_timestamp() + $2::int * interval '1 millisecond' where ${id} = $1`)
  }

  /**
   * Gives everybody who has something due one turn.
   * @returns whether there may be more to do.
   * @throws Error of `work`: what failed is put off for a minute, and the next round goes on behind its owner.
   */
  async round(stopping?: AbortSignal): Promise<boolean> {
    let some = this.#after !== NOBODY
    while (!stopping?.aborted && (await this.#turn())) some = true
    this.#after = NOBODY
    return some
  }

  async #turn(): Promise<boolean> {
    const { db, work } = this.#options
    const failing: { turn?: Turn } = {}
    try {
      const turn = await db.transaction(async (tx) => {
        const [next] = await tx.query(this.#next, this.#after)
        if (next === undefined) return undefined
        failing.turn = next
        await work(tx, next.id)
        return next
      })
      if (turn !== undefined) this.#after = turn.owner
      return turn !== undefined
    } catch (error) {
      // Longest due, it would have every turn of its owner; where the database is away, nobody has one.
      if (failing.turn !== undefined) {
        this.#after = failing.turn.owner
        await db.query(this.#later, failing.turn.id, FAILED_MS).catch(() => {})
      }
      throw error
    }
  }
}

/** Goes from owner to owner through the index, as far as the first who has something due that nobody holds. */
function nextTurn({ table, id, owner, open }: PurgeTable): Statement<Turn, [after: string]> {
  return sqlUnprepared(`
with recursive owners as (
  (select ${owner} as owner from ${table} where ${open} and ${owner} > $1 order by ${owner} limit 1)
  union all
  select (select ${owner} from ${table} where ${open} and ${owner} > owners.owner order by ${owner} limit 1)
    from owners where owners.owner is not null
)
select longest.id, owners.owner
  from owners
 cross join lateral (select ${id} as id from ${table}
                      where ${owner} = owners.owner and ${open} and due_at <= now()
                      order by due_at limit 1
                        for update skip locked) as longest
 limit 1`)
}
