import { readFile } from 'node:fs/promises'
import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import type { System } from '../../stack/system.ts'

/** Memory and CPU time of a process, as Linux reports them. */
export interface Usage {
  readonly residentMb: number
  /** Peak of the resident memory. */
  readonly peakMb: number
  readonly cpuMs: number
}

/** Clock ticks of /proc, which are 100 a second wherever Node runs. */
const TICK_MS = 10

/** @throws Error where there is no /proc. */
export async function usageOf(pid: number): Promise<Usage> {
  const [status, stat] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
  ])
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  // The name of the program is in parentheses and may contain anything; utime and stime are the 12th and 13th field
  // after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  return { residentMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM'), cpuMs: ticks * TICK_MS }
}

/** @throws Error when the service does not run. */
export function pidOf(system: System, service: ServiceName): number {
  const { pid } = system.process(service)
  if (pid === undefined) throw new Error(`${service} does not run`)
  return pid
}

export type UsageByService = ReadonlyMap<ServiceName, Usage>

export async function usageOfAll(system: System): Promise<UsageByService> {
  return new Map(await Promise.all(SERVICES.map(async (name) => [name, await usageOf(pidOf(system, name))] as const)))
}
