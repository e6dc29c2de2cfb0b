import type { Check, CheckedService, CheckOf, CheckPage, CheckRequest } from '@restante/contracts/internal'
import { invalid } from '@restante/service/errors'
import type { Logger } from '@restante/service/telemetry'

/**
 * Handles `<service>.check`.
 * @param checks one for each name that the contract has for the service (`CHECKS`).
 */
export function checkHandler<const S extends CheckedService>(
  { log }: { readonly service: S; readonly log: Logger },
  checks: Readonly<Record<CheckOf<S>, Check>>,
): (request: { readonly body: CheckRequest }) => Promise<CheckPage> {
  const byName = new Map<string, Check>(Object.entries(checks))
  return async ({ body }) => {
    const check = byName.get(body.check)
    if (check === undefined) throw invalid(['check'], 'No check of this service has this name')
    const page = await check(body)
    const repaired = page.findings.filter(({ state }) => state === 'repaired').length
    if (repaired > 0) log.warn({ check: body.check, operator: body.operator, repaired }, 'inconsistencies repaired')
    return page
  }
}
