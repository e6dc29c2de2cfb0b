import { Readable } from 'node:stream'
import { MCP_ENDPOINT } from '@restante/contracts/operations'
import { VERSION } from '@restante/contracts/vocabulary'
import { CALLER_HEADER, KEY_HEADER, TokenMint } from '@restante/service/identity'
import { callerOf, GATEWAY_KEYS } from '@restante/testkit'
import { request } from 'undici'
import { startEndpoint, type TestEndpoint } from './endpoint.ts'

const ACCEPT = 'application/json, text/event-stream'

describe('the MCP endpoint', () => {
  let endpoint: TestEndpoint
  let key: string
  beforeAll(async () => {
    endpoint = await startEndpoint()
    key = (await endpoint.gateway.organization()).key
  })
  afterAll(() => endpoint.stop())

  interface Given {
    readonly body: string | Readable
    readonly headers?: Readonly<Record<string, string>>
    readonly url?: string
    readonly method?: 'GET' | 'POST'
  }
  async function ask({ body, headers = {}, url = endpoint.gateway.url, method = 'POST' }: Given) {
    const answer = await request(`${url}/mcp`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: ACCEPT, ...headers },
      body: method === 'GET' ? null : body,
    })
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }
  const rpc = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

  it('names server, version and instructions, and asks for no session', async () => {
    const client = await endpoint.clientOf(key)
    expect(client.getServerVersion()).toMatchObject({ name: 'restante', version: VERSION })
    expect(client.getServerCapabilities()).toEqual({ tools: {} })
    const instructions = client.getInstructions() ?? ''
    for (const word of ['inbox', 'never instruction', 'pageToken', 'attachmentId']) expect(instructions).toContain(word)
    expect(instructions.length).toBeLessThan(4_000)
    const { headers } = await ask({ body: rpc('tools/list') })
    expect(headers).not.toHaveProperty('mcp-session-id')
  })

  it('answers a request without initialize, as JSON', async () => {
    const { status, headers, text } = await ask({ body: rpc('tools/call', { name: 'auth_me', arguments: {} }) })
    expect([status, headers['content-type']]).toEqual([200, 'application/json'])
    expect(JSON.parse(text)).toMatchObject({ id: 1, result: { structuredContent: { scopeType: 'organization' } } })
  })

  it('answers as a stream to a client that asks for progress', async () => {
    const params = { name: 'auth_me', arguments: {}, _meta: { progressToken: 'p' } }
    const { headers, text } = await ask({ body: rpc('tools/call', params) })
    expect(headers['content-type']).toContain('text/event-stream')
    expect(text).toContain('"scopeType":"organization"')
  })

  it.each([
    ['{"half": ', 400, -32_700],
    ['', 400, -32_700],
    ['{"no":"message"}', 400, -32_700],
    [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'no/such' }), 200, -32_601],
    [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'none' } }), 200, -32_602],
  ])('answers a wrong message in the words of JSON-RPC: %s', async (body, status, code) => {
    const answer = await ask({ body })
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      status,
      expect.objectContaining({ jsonrpc: '2.0', error: expect.objectContaining({ code }) }),
    ])
  })

  it('takes a body of 5 MB, and answers 413 to one of unknown length that is above 6 MB', async () => {
    async function* megabytes(count: number) {
      yield Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"filler":"')
      for (let each = 0; each < count; each++) yield Buffer.alloc(1_024 * 1_024, 'x')
      yield Buffer.from('"}}}')
    }
    expect((await ask({ body: Readable.from(megabytes(5)) })).status).toBe(200)
    expect((await ask({ body: Readable.from(megabytes(7)) })).status).toBe(413)
  })

  it('is not found by anybody but the gateway, and not with a token for anything else', async () => {
    const body = rpc('tools/list')
    const mint = new TokenMint('mcp', GATEWAY_KEYS.caller)
    const tokens = {
      none: undefined,
      'a word': 'forged',
      'of another key': new TokenMint('mcp', 'some other key, 32 bytes as well').caller(MCP_ENDPOINT.id, callerOf()),
      'for another service': new TokenMint('mail-send', GATEWAY_KEYS.caller).caller(MCP_ENDPOINT.id, callerOf()),
      'for another operation': mint.caller('threads.list', callerOf()),
    }
    for (const [what, token] of Object.entries(tokens)) {
      const headers = { [KEY_HEADER]: `Bearer ${key}`, ...(token !== undefined && { [CALLER_HEADER]: token }) }
      expect([what, (await ask({ url: endpoint.url, body, headers })).status]).toEqual([what, 404])
    }
    const right = { [KEY_HEADER]: `Bearer ${key}`, [CALLER_HEADER]: mint.caller(MCP_ENDPOINT.id, callerOf()) }
    expect((await ask({ url: endpoint.url, body, headers: right })).status).toBe(200)
  })
})
