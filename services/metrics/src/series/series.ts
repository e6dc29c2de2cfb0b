import {
  COUNTED_EVENT_TYPES,
  type CountedEventType,
  type Tier,
  USAGE_TYPES,
  type UsageType,
} from '@restante/contracts/vocabulary'

/** How many recipients of sent mail, and what came back of them (identity 9.3). */
export const DELIVERY_COUNTS = ['sent', 'bounced', 'complained'] as const
export type DeliveryCount = (typeof DELIVERY_COUNTS)[number]

export type SeriesName = CountedEventType | UsageType | `recipients.${DeliveryCount}`

const USAGE = {
  storage_bytes: 21,
  message_count: 22,
  thread_count: 23,
  inbox_count: 24,
  domain_count: 25,
  pod_count: 26,
} as const satisfies Record<UsageType, number>

const CODES: ReadonlyMap<SeriesName, number> = new Map<SeriesName, number>([
  ...COUNTED_EVENT_TYPES.map((type, index) => [type, index + 1] as const),
  ...Object.entries(USAGE).map(([name, code]) => [name as UsageType, code] as const),
  ...DELIVERY_COUNTS.map((name, index) => [`recipients.${name}` as const, index + 41] as const),
])

/** The series whose running totals are kept for ever, by their numbers in the database. */
export const USAGE_SERIES: ReadonlyMap<number, UsageType> = new Map(
  USAGE_TYPES.organization.map((name) => [USAGE[name], name]),
)

/** The series of events, each of which counts one, by their numbers in the database. */
export const EVENT_SERIES: readonly number[] = COUNTED_EVENT_TYPES.map((_, index) => index + 1)

/** The number of a series in the database. Numbers are never used again for something else. */
export function codeOf(series: SeriesName): number {
  const code = CODES.get(series)
  if (code === undefined) throw new TypeError(`no such series: ${series}`)
  return code
}

/** The number of a tier in the database. */
export const TIER_CODES = { organization: 1, pod: 2, inbox: 3 } as const satisfies Record<Tier, number>

/** A scope whose events are counted. The default pod has the id of its organization, so the tier is part of it. */
export interface Scope {
  readonly tier: Tier
  readonly id: string
}

/** A change of a series of a scope at a point in time. */
export interface Point {
  readonly scope: Scope
  readonly series: SeriesName
  /** Milliseconds since 1970. */
  readonly at: number
  readonly value: number
}

export const DAY_MS = 86_400_000

/** The day of a time, as the database numbers days. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS)
}
