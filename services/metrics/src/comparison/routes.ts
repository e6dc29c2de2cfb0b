import type { InternalHandlers } from '@restante/service/http'
import type { Comparer } from './comparer.ts'

/** What the operator's command asks for. */
export function comparisonRoutes(
  comparer: Pick<Comparer, 'begin'>,
): Pick<InternalHandlers<'metrics'>, 'metrics.compare'> {
  return {
    'metrics.compare': async ({ body: { operator } }) => ({ started: await comparer.begin(operator) }),
  }
}
