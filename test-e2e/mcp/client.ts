import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { z } from 'zod'
import type { Endpoints } from '../stack/endpoints.ts'
import { type Answer, Api } from '../support/api.ts'

const text = z.object({ type: z.literal('text'), text: z.string() })
const result = z.looseObject({
  isError: z.boolean().default(false),
  structuredContent: z.record(z.string(), z.unknown()),
  content: z.tuple([text]).transform(([{ text: said }]) => said),
})

/** The answer of a tool: its document, and the text of it. */
export type ToolAnswer = z.output<typeof result>

/** The official client with a key, which checks each answer against the output schema of its tool. */
export interface ToolClient {
  readonly client: Client
  /** Calls a tool. @throws Error when the answer is an error. */
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>
  /** Calls a tool, with either outcome. */
  attempt(name: string, args?: Readonly<Record<string, unknown>>): Promise<ToolAnswer>
  stop(): Promise<void>
}

/** @param fetch carries its requests. */
export async function openToolClient(
  { gatewayUrl }: Endpoints,
  key: string,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<ToolClient> {
  const client = new Client({ name: 'tests', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gatewayUrl}/mcp`), { requestInit, fetch }))
  // The schemas of the answers are known to the client from now on.
  await client.listTools()
  const attempt: ToolClient['attempt'] = async (name, args = {}) =>
    result.parse(await client.callTool({ name, arguments: args }))
  return {
    client,
    attempt,
    async call(name, args) {
      const { isError, structuredContent } = await attempt(name, args)
      if (isError) throw new Error(`${name} failed: ${JSON.stringify(structuredContent)}`)
      return structuredContent
    },
    stop: () => client.close(),
  }
}

/** One message of JSON-RPC by itself, as a client sends it that keeps nothing. */
export function sendMessage(
  { gatewayUrl }: Endpoints,
  key: string | undefined,
  method: string,
  params: object = {},
): Promise<Answer> {
  const headers = { accept: 'application/json, text/event-stream' }
  return new Api(gatewayUrl, key).post('/mcp', { jsonrpc: '2.0', id: 1, method, params }, { headers })
}
