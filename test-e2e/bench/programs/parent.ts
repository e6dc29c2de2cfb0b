import { once } from 'node:events'
import type { Express } from 'express'
import type { z } from 'zod'

/** What the bench gave this program to begin with. The program ends when the bench lets go of it. */
export function inputOf<T>(schema: z.ZodType<T>): T {
  process.once('disconnect', () => process.exit(0))
  return schema.parse(JSON.parse(process.argv[2] ?? '{}'))
}

export function tell(value: object): void {
  process.send?.(value)
}

/** @returns a function that tells how long it has been since, and what CPU this process has used. */
export function startClock(): () => { readonly seconds: number; readonly cpuMs: number } {
  const [began, before] = [performance.now(), process.cpuUsage()]
  return () => {
    const { user, system } = process.cpuUsage(before)
    return { seconds: (performance.now() - began) / 1000, cpuMs: (user + system) / 1000 }
  }
}

/** Resolves when the bench lets this program go on. */
export async function toldToGoOn(): Promise<void> {
  await once(process, 'message')
}

/** Serves on a free port of loopback, and tells its URL. */
export function serve(app: Express): void {
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    tell({ url: `http://127.0.0.1:${address.port}` })
  })
}
