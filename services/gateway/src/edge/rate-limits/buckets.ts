import type { Rate } from '@restante/service/configuration'

/** What is limited; the name is also the label of its metric. */
export type LimitName =
  | 'organization'
  | 'credential'
  | 'tool-call'
  | 'sign-up'
  | 'failed-authentication'
  | 'download'
  | 'unsubscribe'
  | 'challenge'

/** A token bucket: it holds up to `burst` tokens, and gains one at each interval until it is full. */
export interface Bucket {
  readonly limit: LimitName
  readonly key: string
  readonly intervalUs: number
  readonly burst: number
}

/**
 * What one request costs: a token of each of its buckets or, when one of them is empty, none. Requests with the same
 * shared bucket are decided together. The keys of both buckets have the same part in braces, so that they are on one
 * node of a Redis cluster.
 */
export interface Charge {
  readonly shared: Bucket
  /** The own bucket of the request, in addition to the shared one, if it has one. */
  readonly own?: Bucket
}

/** Requests of one charge, to be counted together. */
export interface Demand {
  readonly charge: Charge
  /** Requests that wait for a decision. */
  readonly asked: number
  /** Requests that were admitted already: their tokens are taken first, available or not. */
  readonly owed: number
}

/** Demands on one shared bucket, each with a different own one. */
export interface Demands<D extends Demand> {
  readonly shared: Bucket
  readonly all: readonly D[]
}

/** How many of the asking requests of a demand are admitted. */
export interface Verdict<D extends Demand> {
  readonly demand: D
  readonly granted: number
  /** Why the others are refused. */
  readonly refusal: Refusal | undefined
}

export interface Refusal {
  readonly bucket: Bucket
  /** Time until the bucket has a token again. */
  readonly waitMs: number
}

/** The result of counting demands. */
export interface Answer<D extends Demand> {
  readonly shared: Bucket
  readonly verdicts: readonly Verdict<D>[]
  readonly left: readonly { readonly bucket: Bucket; readonly tokens: number }[]
}

/** Whole microseconds keep the arithmetic exact, in Redis as here. */
export function bucketOf(limit: LimitName, key: string, { requests, periodMs, burst }: Rate): Bucket {
  return { limit, key, intervalUs: Math.max(1, Math.round((periodMs * 1000) / requests)), burst }
}
