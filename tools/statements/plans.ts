import { PLANNING } from '@restante/service/database'
import pg from 'pg'
import { z } from 'zod'

/** Modules whose tables are nearly empty most of the time, and may hold thousands of rows a moment later (decision 110). */
export const MODULES_OF_QUEUES = [
  'libs/jobs/src/state/statements.ts',
  'services/mail-send/src/delivery/attempts/store.ts',
  'services/webhooks-dispatcher/src/delivery/store.ts',
]
/** Operators make few rows of the first; the second does not become empty again. */
const NO_QUEUES = ['delivery_holds', 'webhooks']
/**
 * Looking an event up in it by its second column costs as much as by the index of events while both are empty, and PostgreSQL
 * takes that which was created last. No spelling of the statement prevents it.
 */
const AS_CHEAP = ['deliveries_webhook_id_event_id_key']

const node = z.object({
  'Node Type': z.string(),
  'Parent Relationship': z.string().optional(),
  'Index Name': z.string().optional(),
  'Relation Name': z.string().optional(),
  'Index Cond': z.string().optional(),
  Filter: z.string().optional(),
  get Plans() {
    return z.array(node).optional()
  },
})
type PlanNode = z.infer<typeof node>
const explained = z.tuple([z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan: node })]) })])

/**
 * Plans statements as the services do, while tables are empty: such a plan may be in use when they no longer are. It does not
 * see that a condition fits many rows.
 */
export class Planner {
  readonly #client: pg.Client
  /** First column of each index. */
  readonly #firstColumns: ReadonlyMap<string, string>

  private constructor(client: pg.Client, firstColumns: ReadonlyMap<string, string>) {
    this.#client = client
    this.#firstColumns = firstColumns
  }

  /** Opens one for a database that is migrated, and whose tables are empty. */
  static async open(url: string): Promise<Planner> {
    const options = `${PLANNING} -c plan_cache_mode=force_generic_plan`
    const client = new pg.Client({ connectionString: url, application_name: 'restante-tools', options })
    await client.connect()
    // A table that was never analyzed counts as ten pages.
    await client.query('analyze')
    const { rows } = await client.query<{ index: string; first: string }>(
      `select relname as index, pg_get_indexdef(indexrelid, 1, true) as first from pg_index join pg_class on oid = indexrelid`,
    )
    return new Planner(client, new Map(rows.map(({ index, first }) => [index, first])))
  }

  /** @returns tables and indexes that the plan reads from end to end, or may: an index whose reading a limit ends is not counted. */
  async readWhole(text: string): Promise<string[]> {
    await this.#client.query('deallocate all')
    await this.#client.query(`prepare planned as ${text}`)
    const { rows } = await this.#client.query<{ count: number }>(
      "select cardinality(parameter_types) as count from pg_prepared_statements where name = 'planned'",
    )
    const values = Array.from({ length: rows[0]?.count ?? 0 }, () => 'null').join(', ')
    const plan = await this.#client.query(`explain (format json) execute planned${values && `(${values})`}`)
    return this.#wholesOf(explained.parse(plan.rows)[0]['QUERY PLAN'][0].Plan, false)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }

  #wholesOf(plan: PlanNode, isLimited: boolean): string[] {
    const { 'Node Type': type, 'Relation Name': table = '', 'Index Name': index } = plan
    const isWhole = type === 'Seq Scan' || (index !== undefined && !this.#isNarrow(plan, index, isLimited))
    const own = isWhole && !NO_QUEUES.includes(table) ? [index ?? table] : []
    // A node that sorts or joins asks for all rows, whatever limits its own.
    const passesLimit = type === 'Limit' || (isLimited && ['LockRows', 'Result', 'Subquery Scan'].includes(type))
    const others = (plan.Plans ?? []).flatMap((child) => {
      const isInput = ['Outer', 'Subquery'].includes(child['Parent Relationship'] ?? '')
      return this.#wholesOf(child, passesLimit && isInput)
    })
    return [...own, ...others]
  }

  /** A filter under a limit reads on until enough rows fit it. */
  #isNarrow({ 'Index Cond': condition, Filter: filter }: PlanNode, index: string, isLimited: boolean): boolean {
    if (condition === undefined) return isLimited && filter === undefined
    const first = this.#firstColumns.get(index)
    return AS_CHEAP.includes(index) || (first !== undefined && condition.includes(first))
  }
}
