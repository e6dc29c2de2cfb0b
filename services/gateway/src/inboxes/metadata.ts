import type { MetadataValue } from '@restante/contracts/schemas'
import { LIMITS } from '@restante/contracts/vocabulary'

export type Metadata = Readonly<Record<string, MetadataValue>>
export type MetadataChange = Readonly<Record<string, MetadataValue | null>>

/**
 * Metadata after an update: given keys are set, keys set to null are removed, others stay; `null` removes everything.
 * @returns undefined when the result would have more keys than an inbox may have (identity 8.4, 8.5).
 */
export function mergeMetadata(current: Metadata, change: MetadataChange | null | undefined): Metadata | undefined {
  if (change === undefined) return current
  if (change === null) return {}
  const merged = new Map<string, MetadataValue>(Object.entries(current))
  for (const [key, value] of Object.entries(change)) {
    if (value === null) merged.delete(key)
    else merged.set(key, value)
  }
  return merged.size > LIMITS.inbox.metadataKeys ? undefined : Object.fromEntries(merged)
}

export function sameMetadata(one: Metadata, other: Metadata): boolean {
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key])
}

/** Metadata as stored in the database, where only `mergeMetadata` and the request's schema write it. */
export function metadataFromRow(stored: unknown): Metadata {
  if (typeof stored !== 'object' || stored === null) return {}
  return Object.fromEntries(Object.entries(stored).filter(isEntry))
}

function isEntry(entry: [string, unknown]): entry is [string, MetadataValue] {
  return ['string', 'number', 'boolean'].includes(typeof entry[1])
}
