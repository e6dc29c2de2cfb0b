import { startEndpoint, type TestEndpoint } from './endpoint.ts'

/** Clients on this machine have no limits, all others three requests. */
const LIMITED = { RATE_LIMIT_CREDENTIAL: '1/h', RATE_LIMIT_CREDENTIAL_BURST: '3' }

describe('the requests behind a call of a tool', () => {
  const started: TestEndpoint[] = []
  afterAll(() => Promise.all(started.map((endpoint) => endpoint.stop())))

  /** Codes of calls of a client whose address its proxy names, each of which is two requests: its own and that of the tool. */
  async function callsFrom(address: string, environment: Readonly<Record<string, string>>): Promise<unknown[]> {
    const endpoint = await startEndpoint({ ...LIMITED, ...environment })
    started.push(endpoint)
    const { key } = await endpoint.gateway.organization()
    const codes: unknown[] = []
    for (let times = 0; times < 2; times++) {
      const answer = await fetch(`${endpoint.gateway.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'x-forwarded-for': address,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'auth_me', arguments: {} },
        }),
      })
      const { result } = JSON.parse(await answer.text())
      codes.push(result?.structuredContent?.code ?? answer.status)
    }
    return codes
  }

  it('count for the address of its client where this service is a trusted proxy', async () => {
    const codes = await callsFrom('203.0.113.9', { TRUSTED_PROXIES: '127.0.0.1' })
    expect(codes).toEqual([200, 'rate_limit_exceeded'])
  })

  it('count for the address that the client connects from, whatever it names itself', async () => {
    const codes = await callsFrom('203.0.113.9', {})
    expect(codes).toEqual([200, 200])
  })
})
