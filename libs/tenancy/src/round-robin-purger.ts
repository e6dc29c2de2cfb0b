import { type Statement, sql, sqlUnprepared, type Transactional, type Tx } from '@restante/service/database'

/**
 * A table of entries to be purged. It has a column `due_at`, and a partial index of the open rows on owner and
 * `due_at`.
 */
export interface PurgeTable {
  readonly table: string
  /** Column with the id of the entry; a uuid. */
  readonly id: string
  /** Column with the owner; a uuid. */
  readonly owner: string
  /** SQL condition of the rows that are not purged yet: the same as that of the partial index. */
  readonly open: string
}

/** The statements of a purger, for one table. */
export interface PurgeStatements {
  readonly next: Statement<Turn, [after: string]>
  readonly later: Statement<never, [id: string, waitMs: number]>
}

/**
 * Declares the statements that purge a table. Called once per table, next to the declarations of the service's other
 * statements.
 */
export function purgeStatements(of: PurgeTable): PurgeStatements {
  return {
    next: nextTurn(of),
    later: sql(`
update ${of.table} set due_at = clock_timestamp() + $2::int * interval '1 millisecond' where ${of.id} = $1`),
  }
}

interface RoundRobinPurgerOptions {
  readonly db: Transactional
  readonly statements: PurgeStatements
  /**
   * Purges one batch of an entry whose row `tx` has locked. Then it sets `due_at` to the time of the next batch, or
   * marks the entry as purged.
   */
  readonly work: (tx: Tx, id: string) => Promise<void>
}

interface Turn {
  readonly id: string
  readonly owner: string
}

/** Sorts before every owner. */
const NO_OWNER = '00000000-0000-0000-0000-000000000000'
/**
 * How long an entry is deferred after its batch has failed, for example because the blob store did not delete its
 * bytes.
 */
const FAILED_MS = 60_000

/**
 * Purges entries in batches, one transaction each. Owners are served in rotation, one batch at a time, so that an owner
 * with a hundred thousand entries does not hold up an owner with one. Each batch serves the owner's entry that has been
 * due longest. Any number of processes may do this concurrently.
 */
export class RoundRobinPurger {
  readonly #options: RoundRobinPurgerOptions
  /** Owner served last. Advanced even after a failure, so that one failing owner cannot starve the next. */
  #after = NO_OWNER

  constructor(options: RoundRobinPurgerOptions) {
    this.#options = options
  }

  /**
   * Serves every owner that has a due entry once.
   * @returns whether there may be more to do.
   * @throws the error of `work`. The failed entry is deferred for a minute, and the next round continues after its
   * owner.
   */
  async round(stopping?: AbortSignal): Promise<boolean> {
    let some = this.#after !== NO_OWNER
    while (!stopping?.aborted && (await this.#turn())) some = true
    this.#after = NO_OWNER
    return some
  }

  async #turn(): Promise<boolean> {
    const { db, statements, work } = this.#options
    const failing: { turn?: Turn } = {}
    try {
      const turn = await db.transaction(async (tx) => {
        const [next] = await tx.query(statements.next, this.#after)
        if (next === undefined) return undefined
        failing.turn = next
        await work(tx, next.id)
        return next
      })
      if (turn !== undefined) this.#after = turn.owner
      return turn !== undefined
    } catch (error) {
      // Without deferral this entry, which has been due longest, would take every turn of its owner. During a database
      // outage the update fails too, which is harmless: no owner is served then.
      if (failing.turn !== undefined) {
        this.#after = failing.turn.owner
        await db.query(statements.later, failing.turn.id, FAILED_MS).catch(() => {})
      }
      throw error
    }
  }
}

/**
 * Finds the first owner that has a due entry which no other process has locked. The recursion jumps from owner to owner
 * in the index.
 */
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
