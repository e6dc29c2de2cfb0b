import type { System } from '../../../stack/system.ts'
import type { BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { costsOf } from './difference.ts'
import { snapshot } from './snapshot.ts'

/**
 * What work costs, by piece: a figure for everything of which it has used some.
 * @param full pieces of a full run. @param work does so many pieces, and resolves when all their effects are there.
 */
export async function costOf(
  { context, system }: { readonly context: BenchContext; readonly system: System },
  what: string,
  full: number,
  work: (count: number) => Promise<void>,
): Promise<Figure[]> {
  const count = context.size(full)
  context.say(`${what}: ${count} ...`)
  const before = await snapshot(system)
  await work(count)
  return costsOf(what, count, before, await snapshot(system))
}
