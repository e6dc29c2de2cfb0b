import { Pool } from 'undici'
import { startGateway, type TestGateway } from '../gateway.ts'

describe('a service that answers before it has read a request', () => {
  let gateway: TestGateway
  let pool: Pool
  beforeAll(async () => {
    gateway = await startGateway()
    pool = new Pool(gateway.url, { connections: 1 })
  })
  afterAll(async () => {
    await pool.destroy()
    await gateway.stop()
  })

  it("leaves nothing of it before the next request on the client's connection", async () => {
    const { api, key } = await gateway.organization()
    const { body: inbox } = await api.post('/v0/inboxes', {})
    gateway.behind.answer = (request, response) => {
      let read = 0
      request.on('data', (chunk: Buffer) => {
        read += chunk.length
        if (read > 500_000 && !response.headersSent) response.writeHead(503).end('{}')
      })
    }
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const path = `/v0/inboxes/${inbox['inbox_id']}/messages/send`
    const body = JSON.stringify({ text: 'x'.repeat(5_900_000) })
    for (let round = 0; round < 5; round++) {
      const refused = await pool.request({ method: 'POST', path, headers, body })
      await refused.body.dump()
      expect(refused.statusCode).toBe(503)
      const me = () => pool.request({ method: 'GET', path: '/v0/auth/me', headers, headersTimeout: 60_000 })
      // A connection whose rest takes too long to arrive is closed, which a client of kept connections must expect.
      const next = await me().catch((error: NodeJS.ErrnoException) =>
        error.code === 'ECONNRESET' ? me() : Promise.reject(error),
      )
      await next.body.dump()
      expect(next.statusCode).toBe(200)
    }
  })
})
