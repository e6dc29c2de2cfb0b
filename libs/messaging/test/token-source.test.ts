import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TokenSource } from '../src/kafka/access/token-source.ts'

describe('a source of tokens', () => {
  it('says in words why an answer holds no token, without the answer', async () => {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"access":"sealed-value"}')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      const { port } = server.address() as AddressInfo
      const tokenUrl = `http://127.0.0.1:${port}/token`
      const source = new TokenSource({ tokenUrl, clientId: 'mail', clientSecret: 'secret' }, undefined)
      const error: unknown = await source.token().catch((thrown: unknown) => thrown)
      expect(String(error)).toContain('"access_token" property must be a string')
      expect(String(error)).not.toContain('sealed-value')
    } finally {
      server.close()
    }
  })
})
