import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { startEndpoint, type TestEndpoint } from '../endpoint/endpoint.ts'

const MAIN = path.join(import.meta.dirname, '../../src/stdio/main.ts')
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'auth_me', arguments: {} } }

describe('the tools over standard input and output', () => {
  let endpoint: TestEndpoint
  let key: string
  beforeAll(async () => {
    endpoint = await startEndpoint()
    key = (await endpoint.gateway.organization()).key
  })
  afterAll(() => endpoint.stop())

  /** Runs the program with messages on its standard input, which ends with the last one. */
  async function run(environment: Readonly<Record<string, string>>, ...messages: readonly object[]) {
    const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env['PATH'], ...environment } })
    for (const message of messages) child.stdin.write(`${JSON.stringify(message)}\n`)
    child.stdin.end()
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    const answers = out.split('\n').flatMap((line): unknown[] => (line === '' ? [] : [JSON.parse(line)]))
    return { answers, err, code: child.exitCode }
  }
  const environment = (apiKey = key) => ({ AGENTMAIL_API_KEY: apiKey, AGENTMAIL_BASE_URL: endpoint.gateway.url })

  it('are those of the endpoint, and every call is answered, also when the input ends before', async () => {
    const { answers, err, code } = await run(environment(), INITIALIZE, CALL)
    expect(answers).toHaveLength(2)
    expect(answers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 0, result: expect.objectContaining({ protocolVersion: '2025-06-18' }) }),
        expect.objectContaining({
          id: 1,
          result: expect.objectContaining({
            structuredContent: expect.objectContaining({ scopeType: 'organization' }),
          }),
        }),
      ]),
    )
    expect([err, code]).toEqual(['', 0])
  })

  it('answer a request that is refused with an error, which says why', async () => {
    const { answers } = await run(environment('am_us_wrong'), CALL)
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32_603, message: expect.stringMatching(/401|key/i) } },
    ])
  })

  it('need an address and a key, and say so on standard error', async () => {
    const { answers, err, code } = await run({})
    expect([answers, code]).toEqual([[], 1])
    expect(err).toContain('AGENTMAIL_BASE_URL')
  })
})
