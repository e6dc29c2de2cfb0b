import { startEndpoint, type TestEndpoint } from './endpoint.ts'

/** One an hour: a bucket that is empty stays so. */
const TIGHT = {
  RATE_LIMIT_EXEMPT_LOOPBACK: 'false',
  RATE_LIMIT_TOOL_CALL: '3/h',
}

describe('the limit of tool calls', () => {
  let endpoint: TestEndpoint
  let organization: { readonly id: string; readonly key: string }
  beforeAll(async () => {
    endpoint = await startEndpoint(TIGHT)
    organization = await endpoint.gateway.organization()
  })
  afterAll(() => endpoint.stop())

  async function newKey(): Promise<string> {
    const made = await endpoint.gateway.request(organization.key, 'POST', '/v0/api-keys', {})
    return String(made['api_key'])
  }

  it('refuses the next call with an error that a model can read, for this key alone', async () => {
    const [client, other] = await Promise.all([newKey(), newKey()].map(async (key) => endpoint.clientOf(await key)))
    const call = () => client?.callTool({ name: 'auth_me', arguments: {} })
    // Neither is a call of a tool.
    for (let times = 0; times < 5; times++) expect((await client?.listTools())?.tools.length).toBeGreaterThan(24)
    await client?.ping()
    for (let times = 0; times < 3; times++) expect(await call()).not.toHaveProperty('isError')
    const refused = await call()
    expect(refused).toMatchObject({
      isError: true,
      structuredContent: {
        name: 'RateLimitError',
        code: 'rate_limit_exceeded',
        message: 'Too many calls of tools with this API key',
        fix: expect.stringContaining('3 per hour'),
      },
    })
    expect(JSON.stringify(refused?.content)).toContain('Wait')
    expect((await client?.listTools())?.tools.length).toBeGreaterThan(24)
    expect(await other?.callTool({ name: 'auth_me', arguments: {} })).not.toHaveProperty('isError')
  })

  it('counts calls of tools that fail, but not of tools that do not exist', async () => {
    const client = await endpoint.clientOf(await newKey())
    for (let times = 0; times < 3; times++) {
      await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toThrow('no_such_tool')
    }
    const missing = () => client.callTool({ name: 'get_inbox', arguments: { inboxId: 'nobody@restante.test' } })
    const codes = []
    for (let times = 0; times < 4; times++) codes.push((await missing()).structuredContent)
    expect(codes).toMatchObject([
      { code: 'not_found' },
      { code: 'not_found' },
      { code: 'not_found' },
      { code: 'rate_limit_exceeded' },
    ])
  })
})
