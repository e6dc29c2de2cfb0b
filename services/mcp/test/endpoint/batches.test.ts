import { startEndpoint, type TestEndpoint } from './endpoint.ts'

describe('a batch of messages', () => {
  let endpoint: TestEndpoint
  let key: string
  beforeAll(async () => {
    endpoint = await startEndpoint()
    key = (await endpoint.gateway.organization()).key
  })
  afterAll(() => endpoint.stop())

  const post = (messages: readonly unknown[]) =>
    fetch(`${endpoint.gateway.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify(messages),
    })
  const ping = (_: unknown, id: number) => ({ jsonrpc: '2.0', id, method: 'ping' })

  it('is answered up to 20 of them', async () => {
    const answer = await post(Array.from({ length: 20 }, ping))
    expect(answer.status).toBe(200)
    expect(await answer.json()).toHaveLength(20)
  })

  it('is refused beyond, before they are looked at', async () => {
    for (const messages of [Array.from({ length: 21 }, ping), Array.from({ length: 2_000_000 }, () => 1)]) {
      const answer = await post(messages)
      expect(answer.status).toBe(400)
      const error = { code: -32_600, message: 'A batch has at most 20 messages' }
      expect(await answer.json()).toEqual({ jsonrpc: '2.0', id: null, error })
    }
  })
})
