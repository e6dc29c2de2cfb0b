const DAY_MS = 86_400_000
/** Lengths of periods, in days. */
const LENGTHS = [1, 8, 64, 512] as const
/** A search for a longer time uses longer periods. */
const MOST_PERIODS = 16
/** A period is 13 bits of the organization's id, 2 of the length, and 16 that count periods of that length since 1970. */
const LENGTH_SHIFT = 16
const ORGANIZATION_SHIFT = 18
const ORGANIZATION_MASK = 0x1fff
const LAST = 0xffff

/**
 * The periods of its organization in which a message lies, one of each length, as numbers by which the index finds the
 * messages of a span of time. Two organizations may have the same ones, so that they only narrow a search.
 */
export function periodsOf(organizationId: string, time: Date): number[] {
  return LENGTHS.map((_, length) => period(organizationId, length, numberOf(time, length)))
}

/** For the index (`query_int`): the few periods that cover a span of time. */
export function periodsBetween(organizationId: string, since: Date, until: Date): string {
  const count = (length: number) => numberOf(until, length) - numberOf(since, length) + 1
  const fitting = LENGTHS.findIndex((_, length) => count(length) <= MOST_PERIODS)
  const length = fitting < 0 ? LENGTHS.length - 1 : fitting
  const first = numberOf(since, length)
  return Array.from({ length: count(length) }, (_, at) => period(organizationId, length, first + at)).join('|')
}

function period(organizationId: string, length: number, number: number): number {
  const organization = Number.parseInt(organizationId.slice(-4), 16) & ORGANIZATION_MASK
  return (organization << ORGANIZATION_SHIFT) | (length << LENGTH_SHIFT) | number
}

function numberOf(time: Date, length: number): number {
  const days = Math.floor(time.getTime() / DAY_MS)
  return Math.floor(Math.min(LAST, Math.max(0, days)) / (LENGTHS[length] ?? 1))
}
