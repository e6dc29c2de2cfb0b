import { once } from 'node:events'
import { createServer } from 'node:net'
import { freePort } from '../src/testing.ts'

describe('a free port', () => {
  it('is given to one caller, below the ports of outgoing connections', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()))
    expect(new Set(ports).size).toBe(50)
    expect(Math.max(...ports)).toBeLessThan(32_768)
  })

  it('is none that a server listens on', async () => {
    const next = (await freePort()) + 1
    const server = createServer().listen(next, '127.0.0.1')
    await once(server, 'listening')
    expect(await freePort()).not.toBe(next)
    server.close()
  })
})
