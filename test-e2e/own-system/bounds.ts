import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { underLoad } from '@restante/testkit'
import { usageOfAll } from '../bench/load/processes.ts'
import type { System } from '../stack/system.ts'
import { createTenant, type Tenant } from '../support/tenants.ts'

/** Limit for the memory of each service under load. */
export const MOST_MB = 512
const EVERY_MS = 50

/** Checks that work affects neither the memory of services beyond a limit, nor requests of others beyond a time. */
export class Bounds {
  readonly #system: System
  /** Another one than that whose work is done, which may be held back by its own rate limit. */
  readonly #other: Tenant

  private constructor(system: System, other: Tenant) {
    this.#system = system
    this.#other = other
  }

  static async of(system: System): Promise<Bounds> {
    return new Bounds(system, await createTenant(system.endpoints))
  }

  /**
   * Does the work, makes small requests of another tenant in the meantime, and expects the bounds to hold.
   * @param withinMs longest response time of these requests on an idle machine. How late this process itself was, which
   *   shows how long the machine let a process wait, is added to it.
   */
  async during<T>(work: Promise<T>, withinMs: number): Promise<T> {
    const lateness = monitorEventLoopDelay({ resolution: 10 })
    lateness.enable()
    const slowest = await this.#slowestDuring(work)
    lateness.disable()
    const usage = [...(await usageOfAll(this.#system))]
    const peaks = usage.map(([name, { peakMb }]) => [name, Math.round(peakMb)] as const)
    expect(peaks.filter(([, peakMb]) => peakMb > MOST_MB)).toEqual([])
    expect(slowest).toBeLessThan(underLoad(withinMs) + lateness.max / 1e6)
    return work
  }

  /** @returns the longest response time, in ms. */
  async #slowestDuring(work: Promise<unknown>): Promise<number> {
    const { client } = this.#other
    const { inboxId } = await client.inboxes.create({})
    let done = false
    let slowest = 0
    const asking = (async () => {
      while (!done) {
        const begun = performance.now()
        await client.inboxes.messages.list(inboxId)
        slowest = Math.max(slowest, performance.now() - begun)
        await wait(EVERY_MS)
      }
    })()
    await work.finally(() => {
      done = true
    })
    await asking
    return slowest
  }
}
