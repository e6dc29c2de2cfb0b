import type { Rate } from '@restante/service'

/** What is limited; the name is also the label of its metric. */
export type LimitName = 'organization' | 'credential' | 'sign-up' | 'failed-authentication' | 'download'

/** A token bucket: it holds `burst` tokens, and gains one at each interval until it is full again. */
export interface Bucket {
  readonly limit: LimitName
  readonly key: string
  readonly intervalUs: number
  readonly burst: number
}

/**
 * What one request takes: a token of each bucket or, where one of them is empty, none. Requests are decided together by
 * their shared bucket, of which the key's part in braces is the same in both: so they are in one place of a cluster.
 */
export interface Charge {
  readonly shared: Bucket
  /** Absent where the shared bucket is the only one. */
  readonly own?: Bucket
}

/** Requests of one charge, to be counted together. */
export interface Demand {
  readonly charge: Charge
  /** Those that wait to be decided. */
  readonly asked: number
  /** Those that have passed already: they take their tokens first, be there any or not. */
  readonly owed: number
}

/** Demands on one shared bucket, each with another own one. */
export interface Demands<D extends Demand> {
  readonly shared: Bucket
  readonly all: readonly D[]
}

/** How many of the requests of a demand pass that asked. */
export interface Verdict<D extends Demand> {
  readonly demand: D
  readonly granted: number
  /** Why the others do not. */
  readonly refusal: Refusal | undefined
}

export interface Refusal {
  readonly bucket: Bucket
  /** Until the bucket has a token again. */
  readonly waitMs: number
}

/** What is known once demands were counted. */
export interface Answer<D extends Demand> {
  readonly shared: Bucket
  readonly verdicts: readonly Verdict<D>[]
  readonly left: readonly { readonly bucket: Bucket; readonly tokens: number }[]
}

/** Whole microseconds keep the arithmetic exact, in Redis as here. */
export function bucketOf(limit: LimitName, key: string, { requests, periodMs, burst }: Rate): Bucket {
  return { limit, key, intervalUs: Math.max(1, Math.round((periodMs * 1000) / requests)), burst }
}
