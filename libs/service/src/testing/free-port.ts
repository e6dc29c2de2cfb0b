import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * The range lies below the ports that Linux gives to outgoing connections (32768 and up): one of those could take a
 * chosen port before its server listens.
 */
const FIRST = 20_000
/** Ports that one jest worker chooses from, and no other worker. The system that files share has the first share. */
const SHARE = 1_000
const SHARES = 12

const first = FIRST + (Number(process.env['JEST_WORKER_ID'] ?? 0) % SHARES) * SHARE
let next = randomInt(SHARE)

/**
 * A TCP port that is free now, and that no call in another test file is answered.
 * @throws Error when a whole share is taken.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < SHARE; attempt++) {
    const port = first + next
    // Before anything is awaited, so that calls at the same time are answered different ports.
    next = (next + 1) % SHARE
    if (await isFree(port, host)) return port
  }
  throw new Error(`no port from ${first} to ${first + SHARE - 1} is free`)
}

async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
