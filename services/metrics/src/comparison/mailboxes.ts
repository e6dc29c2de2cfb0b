import { pause } from '@restante/service/concurrency'
import { numberOf, uuidOf } from '../series/uuid-number.ts'
import { caughtUp } from './caught-up.ts'
import type { Comparing } from './comparing.ts'
import { correctTotals } from './correct.ts'
import { type Difference, differencesIn, STORED } from './differences.ts'
import { askOwners, type OwnerRange } from './owners.ts'

/** Inboxes in a page of an owner, where all are compared and where single ones are measured again. */
const PAGE = { all: 1_000, again: 100 }
/** Pages that are kept in memory until the consumers have caught up. */
const TOGETHER = 20
/** Equal measurements that make a difference certain, of at most so many. */
const AGREEING = 3
const MEASUREMENTS = 6
const SPACED_MS = 60_000
const NIL = '00000000-0000-0000-0000-000000000000'

/** What an inbox differed by when it was last measured, and how often in a row. */
interface Suspect {
  readonly difference: Difference
  readonly agreeing: number
}

/**
 * Compares what is stored in inboxes with the counts of the owners of messages and of drafts. A difference is corrected when
 * three measurements, a minute apart, find the same one, while nothing changes in the inbox: it is no event on its way then.
 */
export async function compareMailboxes(comparing: Comparing): Promise<void> {
  for (let after: string | undefined = NIL; after !== undefined; ) {
    const ranges: OwnerRange[] = []
    while (after !== undefined && ranges.length < TOGETHER) {
      const range: OwnerRange = await askOwners(comparing, after, PAGE.all)
      ranges.push(range)
      after = range.until
    }
    await correctCertain(comparing, await measure(comparing, ranges))
  }
}

async function measure(
  { kafka, db, consumers, lease }: Comparing,
  ranges: readonly OwnerRange[],
  only?: ReadonlySet<string>,
): Promise<Difference[]> {
  await caughtUp(kafka, consumers, lease.stopping)
  const found: Difference[] = []
  for (const range of ranges) found.push(...(await differencesIn(db, range, only)))
  return found
}

async function correctCertain(comparing: Comparing, found: readonly Difference[]): Promise<void> {
  const { spacedMs = SPACED_MS, lease } = comparing
  let suspects = found.map((difference) => ({ difference, agreeing: difference.isMoving ? 0 : 1 }))
  for (let measured = 1; suspects.length > 0 && measured < MEASUREMENTS; measured++) {
    await pause(spacedMs, lease.stopping)
    const only = new Set(suspects.map(({ difference }) => difference.id))
    const again = await measure(comparing, await rangesAround(comparing, [...only].sort()), only)
    suspects = agree(suspects, again)
    for (const { difference } of suspects.filter(({ agreeing }) => agreeing === AGREEING))
      await correctInbox(comparing, difference)
    suspects = suspects.filter(({ agreeing }) => agreeing < AGREEING)
  }
}

/** Those that still differ. */
function agree(suspects: readonly Suspect[], again: readonly Difference[]): Suspect[] {
  const measured = new Map(again.map((difference) => [difference.id, difference]))
  return suspects.flatMap((suspect) => {
    const difference = measured.get(suspect.difference.id)
    if (difference === undefined) return []
    if (difference.isMoving) return [{ difference, agreeing: 0 }]
    const { amounts } = suspect.difference
    const isSame = difference.amounts.every((amount, index) => amount === amounts[index])
    return [{ difference, agreeing: isSame ? suspect.agreeing + 1 : 1 }]
  })
}

/** The owners' counts of these inboxes, whose ids are in order. */
async function rangesAround(comparing: Comparing, ids: readonly string[]): Promise<OwnerRange[]> {
  const ranges: OwnerRange[] = []
  // Pages begin after an id.
  for (let left = ids; left[0] !== undefined; ) {
    const range = await askOwners(comparing, uuidOf(numberOf(left[0]) - 1n), PAGE.again)
    ranges.push(range)
    const { until } = range
    left = until === undefined ? [] : left.filter((id) => id > until)
  }
  return ranges
}

async function correctInbox(comparing: Comparing, { id, organizationId, podId, amounts }: Difference): Promise<void> {
  await correctTotals(comparing, {
    scopes: [
      { tier: 'organization', id: organizationId },
      ...(podId === undefined ? [] : [{ tier: 'pod' as const, id: podId }]),
      { tier: 'inbox', id },
    ],
    remember: { id, kind: 'inbox', organizationId, podId },
    amounts: STORED.map((series, index) => ({ series, value: amounts[index] ?? 0 })),
  })
}
