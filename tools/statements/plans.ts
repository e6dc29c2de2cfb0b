import { PLANNING } from '@restante/service/database'
import pg from 'pg'
import { z } from 'zod'

/** Modules whose tables are nearly empty most of the time, and may hold thousands of rows a moment later (decision 110). */
const OF_QUEUES = [
  'libs/jobs/src/state/statements.ts',
  'services/mail-send/src/delivery/attempts/store.ts',
  'services/webhooks-dispatcher/src/delivery/store.ts',
]
/** Operators make its few rows. */
const ALWAYS_SMALL = ['delivery_holds']

const node = z.object({
  'Node Type': z.string(),
  'Index Name': z.string().optional(),
  'Relation Name': z.string().optional(),
  'Index Cond': z.string().optional(),
  get Plans() {
    return z.array(node).optional()
  },
})
const explained = z.tuple([z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan: node })]) })])

/** Plans statements as the services do, while tables are empty: such a plan may be in use when they no longer are. */
export class Planner {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async open(url: string): Promise<Planner> {
    const options = `${PLANNING} -c plan_cache_mode=force_generic_plan`
    const client = new pg.Client({ connectionString: url, application_name: 'restante-tools', options })
    await client.connect()
    // A table that was never analyzed counts as ten pages.
    await client.query('analyze')
    return new Planner(client)
  }

  /** Whether the statements of a file must find their rows by index. */
  static concerns(file: string): boolean {
    return OF_QUEUES.some((module) => file.endsWith(module))
  }

  /** @returns tables and indexes that the plan reads from end to end. One that is read in its order up to a limit is none. */
  async readWhole(text: string): Promise<string[]> {
    await this.#client.query('deallocate all')
    await this.#client.query(`prepare planned as ${text}`)
    const { rows } = await this.#client.query<{ count: number }>(
      "select cardinality(parameter_types) as count from pg_prepared_statements where name = 'planned'",
    )
    const values = Array.from({ length: rows[0]?.count ?? 0 }, () => 'null').join(', ')
    const plan = await this.#client.query(`explain (format json) execute planned${values && `(${values})`}`)
    return wholesOf(explained.parse(plan.rows)[0]['QUERY PLAN'][0].Plan, false)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}

function wholesOf(plan: z.infer<typeof node>, isLimited: boolean): string[] {
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Name': index, 'Index Cond': condition } = plan
  const isWhole = type === 'Seq Scan' || (index !== undefined && condition === undefined && !isLimited)
  const own = isWhole && !ALWAYS_SMALL.includes(table) ? [index ?? table] : []
  // A node that sorts or joins asks for all rows, whatever limits its own.
  const passesLimit = type === 'Limit' || (isLimited && ['LockRows', 'Result', 'Subquery Scan'].includes(type))
  return [...own, ...(plan.Plans ?? []).flatMap((child) => wholesOf(child, passesLimit))]
}
