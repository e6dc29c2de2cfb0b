import { type ReputationCounts, ratesOf } from '@restante/contracts/events'

/** Shares of what was sent from which an organization is warned about, and suspended. */
export interface Threshold {
  readonly warn: number
  readonly suspend: number
}
export interface Thresholds {
  readonly bounce: Threshold
  readonly complaint: Threshold
}

/** What a rate leads to. */
export interface Finding {
  readonly consequence: 'warn' | 'suspend'
  readonly rate: keyof Thresholds
  readonly value: number
}

/** The gravest consequence of what an organization has sent within a day (mail 15.3); undefined: none. */
export function findingOf(thresholds: Thresholds, counts: ReputationCounts): Finding | undefined {
  const rates = ratesOf(counts)
  const findings = (['bounce', 'complaint'] as const).flatMap((rate): Finding[] => {
    const value = rates[rate] ?? 0
    if (value >= thresholds[rate].suspend) return [{ consequence: 'suspend', rate, value }]
    return value >= thresholds[rate].warn ? [{ consequence: 'warn', rate, value }] : []
  })
  return findings.find(({ consequence }) => consequence === 'suspend') ?? findings[0]
}
