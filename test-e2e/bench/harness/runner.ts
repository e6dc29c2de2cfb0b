import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { say } from '@restante/local/progress.ts'
import { System } from '../../stack/system.ts'
import type { BenchOptions } from './arguments.ts'
import type { Bench, BenchContext } from './bench.ts'
import type { Figure } from './figures.ts'

/** Stops something after a bench. */
type Ending = () => Promise<unknown>

/**
 * Runs one bench in a folder of its own and stops everything that it started, also when it fails or is interrupted.
 * @param run folder of the whole run.
 */
export async function runBench(
  bench: Bench,
  options: BenchOptions,
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
    return await Promise.race([bench.run(contextOf(bench, options, folder, endings)), end])
  } finally {
    for (const end of endings.toReversed()) await end()
    // The blobs are gigabytes of mail. Logs and profiles are kept.
    await rm(path.join(folder, 'blobs'), { recursive: true, force: true })
  }
}

function contextOf(bench: Bench, { quick, profiled }: BenchOptions, folder: string, endings: Ending[]): BenchContext {
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
