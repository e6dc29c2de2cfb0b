import { z } from 'zod'
import { Program } from '../../programs/program.ts'
import type { Broadcaster } from './broadcaster.ts'

/** A server of bare `ws`: what a broadcast costs at the least. */
export async function startBareServer(document: string): Promise<Broadcaster> {
  const server = Program.start('broadcasting-server', { document })
  const { url } = await server.next(z.object({ url: z.url() }))
  return {
    clients: { url, frames: [] },
    async broadcast() {
      server.resume()
      return (await server.next(z.object({ at: z.number() }))).at
    },
    stop: () => server.stop(),
  }
}
