import type { Database } from '@restante/service/database'
import { queryRows } from '@restante/testkit'

/** A step of a plan, after it was executed. */
interface Step {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Step[]
}

/** The database, which also counts the rows of a table that its statements look at. */
export function countingRows(db: Database, table: string): { readonly db: Database; readonly examined: () => number } {
  let rows = 0
  const counting = new Proxy(db, {
    get(target, name) {
      if (name !== 'query') return Reflect.get(target, name, target)
      return async (statement: { text: string }, ...values: unknown[]) => {
        const explain = `explain (analyze, format json) ${statement.text}`
        const [plan] = await queryRows<{ 'QUERY PLAN': [{ Plan: Step }] }>(target, explain, ...values)
        rows += examinedBy(plan?.['QUERY PLAN'][0].Plan, table)
        return queryRows(target, statement.text, ...values)
      }
    },
  })
  return { db: counting, examined: () => rows }
}

function examinedBy(step: Step | undefined, table: string): number {
  if (step === undefined) return 0
  const { 'Rows Removed by Filter': removed = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = step
  const own = step['Relation Name'] === table ? (step['Actual Rows'] + removed + rechecked) * step['Actual Loops'] : 0
  return own + (step.Plans ?? []).reduce((sum, inside) => sum + examinedBy(inside, table), 0)
}
