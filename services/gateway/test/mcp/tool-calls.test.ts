import { ServiceClient } from '@restante/service/http'
import { PEER_KEY, startGateway, type TestGateway } from '../gateway.ts'

const CLIENT = '203.0.113.7'

describe('the limit of tool calls', () => {
  let gateway: TestGateway
  let mcp: ServiceClient<'mcp'>
  beforeAll(async () => {
    gateway = await startGateway()
    mcp = new ServiceClient({ from: 'mcp', to: 'gateway', url: gateway.url, key: PEER_KEY })
  })
  afterAll(async () => {
    await mcp.stop()
    await gateway.stop()
  })

  interface Key {
    readonly organization_id: string
    readonly credential_id: string
  }
  const admit = async (key: Key, peer = CLIENT) => (await mcp.call('gateway.admitToolCall', { ...key, peer })).refusal

  async function keysOf(count: number) {
    const { id, api } = await gateway.organization()
    const made = await Promise.all(Array.from({ length: count }, () => api.post('/v0/api-keys', {})))
    const keys = made.map(({ body }) => ({ organization_id: id, credential_id: String(body['api_key_id']) }))
    const secrets = made.map(({ body }) => String(body['api_key']))
    return { keys, secrets }
  }

  it('is 60 a minute for each key by default, whatever other keys do', async () => {
    const { keys, secrets } = await keysOf(2)
    const [busy, other] = keys
    if (busy === undefined || other === undefined) throw new Error('no keys were made')
    for (let calls = 0; calls < 60; calls += 10) {
      expect(await Promise.all(Array.from({ length: 10 }, () => admit(busy)))).toEqual(Array(10).fill(undefined))
    }
    // The bucket fills by one a second, which a slow run may see.
    const refusals = await Promise.all(Array.from({ length: 20 }, () => admit(busy)))
    const refused = refusals.filter((refusal) => refusal !== undefined)
    expect(refused.length).toBeGreaterThan(0)
    for (const refusal of refused) {
      expect(refusal?.message).toContain('calls of tools')
      expect(refusal?.fix).toContain('60 per minute')
      expect(refusal?.retry_after).toBe(1)
    }
    expect(await admit(other)).toBeUndefined()
    // The limits of the API are others: a key without tool calls left may still be used.
    expect((await gateway.as(secrets[0]).get('/v0/auth/me')).status).toBe(200)
  })
})
