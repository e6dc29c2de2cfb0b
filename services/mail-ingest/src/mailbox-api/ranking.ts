import type { Position } from '@restante/service/http'

/** The place of an item in the results of a search: best score first, then the newest, ties by id. */
export interface Ranked {
  readonly score: number
  readonly timestamp: Date
  readonly id: string
}

export function byRank(a: Ranked, b: Ranked): number {
  if (a.id === b.id) return 0
  return b.score - a.score || b.timestamp.getTime() - a.timestamp.getTime() || (a.id < b.id ? 1 : -1)
}

export function rankPosition({ score, timestamp, id }: Ranked): Position {
  return { rank: String(score), time: timestamp, id }
}

/** Whether an item comes after a position, which is the last item of the page before. */
export function isAfter(item: Ranked, position: Position | undefined): boolean {
  if (position === undefined) return true
  return byRank({ score: Number(position.rank), timestamp: position.time, id: position.id }, item) < 0
}

/**
 * Takes items in their order until there are `wanted` of them, in portions: `load` may leave some out, such as those that
 * only a hash had found.
 */
export async function takeInPortions<Item, Loaded>(
  items: readonly Item[],
  wanted: number,
  load: (portion: readonly Item[]) => Promise<Loaded[]>,
): Promise<Loaded[]> {
  const taken: Loaded[] = []
  for (let from = 0; from < items.length && taken.length < wanted; from += wanted) {
    taken.push(...(await load(items.slice(from, from + wanted))))
  }
  return taken.slice(0, wanted)
}
