import { once } from 'node:events'
import { createServer } from 'node:http'
import { Webhook } from 'svix'
import { WebSocketServer } from 'ws'
import { HandshakeRefusedError, StreamClient, verifyWebhook, WebhookReceiver } from '../src/index.ts'

describe('a webhook receiver', () => {
  let receiver: WebhookReceiver
  beforeEach(async () => {
    receiver = await new WebhookReceiver().start()
  })
  afterEach(() => receiver.stop())

  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(receiver.url, { method: 'POST', body, headers })

  it('keeps requests byte for byte and answers as scripted, then 200', async () => {
    receiver.script(500, { status: 302, headers: { location: '/elsewhere' } }, 'hang-up')
    expect((await post('{"a": 1}')).status).toBe(500)
    expect((await fetch(receiver.url, { redirect: 'manual' })).status).toBe(302)
    await expect(post('{}')).rejects.toThrow()
    expect((await post('{}')).status).toBe(200)
    expect(receiver.requests.map(({ body }) => body)).toEqual(['{"a": 1}', '', '{}', '{}'])
  })

  it('verifies a signature over the bytes, and refuses another', async () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    const now = new Date()
    const signature = new Webhook(secret).sign('msg_1', now, '{"a": 1}')
    const headers = {
      'svix-id': 'msg_1',
      'svix-timestamp': String(Math.floor(now.getTime() / 1000)),
      'svix-signature': signature,
    }
    await post('{"a": 1}', headers)
    await post('{"a": 2}', headers)
    const [genuine, forged] = receiver.requests
    if (!genuine || !forged) throw new Error('two requests were sent')
    expect(verifyWebhook(secret, genuine)).toEqual({ a: 1 })
    expect(() => verifyWebhook(secret, forged)).toThrow()
  })
})

describe('a stream client', () => {
  it('stores frames, finds answers between events, and reports the close code', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    server.on('connection', (socket) =>
      socket.on('message', (data) => {
        if (data.toString() === '"go"') socket.close(1012)
        socket.send('{"type":"event","event_type":"message.sent"}')
        socket.send('{"type":"subscribed"}')
      }),
    )
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    const client = await StreamClient.open(`ws://127.0.0.1:${address.port}/v0`)
    expect(await client.ask({ type: 'subscribe' })).toEqual({ type: 'subscribed' })
    expect(client.events).toEqual([{ type: 'event', event_type: 'message.sent' }])
    await client.close()
    expect(client.closed?.code).toBe(1005)
    server.close()
  })

  it('reports status and body of a refused handshake', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    server.on('upgrade', (_request, socket) =>
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n{"message":"Forbidden"}'),
    )
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    const refusal = StreamClient.open(`ws://127.0.0.1:${address.port}/v0`)
    await expect(refusal).rejects.toEqual(new HandshakeRefusedError(403, '{"message":"Forbidden"}'))
    server.close()
  })
})
