import { once } from 'node:events'
import type { Express } from 'express'
import type { z } from 'zod'

/** The input that the bench gave to this program. The program exits when the bench disconnects. */
export function inputOf<T>(schema: z.ZodType<T>): T {
  process.once('disconnect', () => process.exit(0))
  return schema.parse(JSON.parse(process.argv[2] ?? '{}'))
}

export function reportToParent(value: object): void {
  process.send?.(value)
}

/** @returns a function that returns the time since, and the CPU time that this process has used since. */
export function startClock(): () => { readonly seconds: number; readonly cpuMs: number } {
  const [began, before] = [performance.now(), process.cpuUsage()]
  return () => {
    const { user, system } = process.cpuUsage(before)
    return { seconds: (performance.now() - began) / 1000, cpuMs: (user + system) / 1000 }
  }
}

/** Resolves when the bench resumes this program. */
export async function resumed(): Promise<void> {
  await once(process, 'message')
}

/** Serves on a free port of loopback, and reports the URL. */
export function serve(app: Express): void {
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    reportToParent({ url: `http://127.0.0.1:${address.port}` })
  })
}
