import { once } from 'node:events'
import type { Server } from 'node:net'

/** Has a server listen on a port that the system chooses, so that no other process can take it first. @returns the port. */
export async function listenOn(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  return address.port
}
