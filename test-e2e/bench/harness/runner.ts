import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { say } from '@restante/local/progress.ts'
import { System } from '../../stack/system.ts'
import type { Wishes } from './arguments.ts'
import type { Bench, BenchContext } from './bench.ts'
import type { Figure } from './figures.ts'

/** Anything that has to be ended after a bench. */
type Ending = () => Promise<unknown>

/**
 * Runs one bench in a folder of its own and ends all that it began, also when it fails or is interrupted.
 * @param run folder of the whole run.
 */
export async function runBench(
  bench: Bench,
  wishes: Wishes,
  run: string,
  interrupted: AbortSignal,
): Promise<readonly Figure[]> {
  const folder = path.join(run, bench.name)
  await mkdir(folder, { recursive: true })
  const endings: Ending[] = []
  try {
    const end = new Promise<never>((_, reject) => {
      interrupted.addEventListener('abort', () => reject(new Error('interrupted')))
    })
    return await Promise.race([bench.run(contextOf(bench, wishes, folder, endings)), end])
  } finally {
    for (const end of endings.toReversed()) await end()
    // Gigabytes of mail; logs and profiles stay.
    await rm(path.join(folder, 'blobs'), { recursive: true, force: true })
  }
}

function contextOf(bench: Bench, { quick, profiled }: Wishes, folder: string, endings: Ending[]): BenchContext {
  const nodeArguments = (service: string) => {
    if (!profiled.has(service)) return []
    return ['--cpu-prof', `--cpu-prof-dir=${path.join(folder, 'profiles', service)}`]
  }
  const cleanUp: BenchContext['cleanUp'] = (thing) => {
    endings.push(() => thing.stop())
    return thing
  }
  return {
    quick,
    folder,
    nodeArguments,
    cleanUp,
    size: (full) => (quick ? Math.ceil(full / 10) : full),
    say: (text) => say(`${bench.name}: ${text}`),
    async startSystem(options = {}) {
      say(`${bench.name}: starting the services ...`)
      return cleanUp(await System.start(folder, { ...options, nodeArguments }))
    },
  }
}
