import type { UsageType } from '@restante/contracts/vocabulary'
import { holdScopes } from '@restante/tenancy'
import { type Entity, rememberScopes } from '../counting/entities.ts'
import { addAdjustments, addPoints } from '../series/add.ts'
import type { Point, Scope } from '../series/series.ts'
import type { Comparing } from './comparing.ts'
import { drift } from './telemetry.ts'

export interface Correction {
  /** All of them get the same points; none when one of them is deleted. */
  readonly scopes: readonly Scope[]
  readonly amounts: readonly { readonly series: UsageType; readonly value: number }[]
  /** An inbox that may not be known yet. */
  readonly remember?: Entity & { readonly kind: 'inbox' }
}

/** Corrects totals from now on; what was shown of the time before stays. A rebuild keeps the correction. */
export async function correctTotals(
  { db, lease, log, comparison }: Comparing,
  { scopes, amounts, remember }: Correction,
): Promise<void> {
  const at = Date.now()
  const points = scopes.flatMap((scope) =>
    amounts.flatMap(({ series, value }): Point[] => (value === 0 ? [] : [{ scope, series, at, value }])),
  )
  const isCorrected = await db.transaction(async (tx) => {
    if (!(await lease.hold(tx))) return false
    const areLive = await holdScopes(
      tx,
      scopes.map(({ id }) => id),
    )
    if (!areLive) return false
    if (remember !== undefined) await rememberScopes(tx, [remember])
    await addPoints(tx, points)
    await addAdjustments(tx, points)
    return true
  })
  if (!isCorrected) return
  for (const { scope, series, value } of points) {
    drift.inc({ series })
    log.warn({ comparison, scope: scope.id, tier: scope.tier, series, difference: value }, 'usage total corrected')
  }
}
