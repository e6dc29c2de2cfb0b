import { z } from 'zod'
import type { Endpoints } from '../stack/endpoints.ts'

/** The result of a call of a tool, as far as callers here read it. */
export interface ToolResult {
  readonly structured: Readonly<Record<string, unknown>>
  readonly isError: boolean
}

const answer = z.object({
  result: z.object({ structuredContent: z.record(z.string(), z.unknown()), isError: z.boolean().default(false) }),
})

/** Calls a tool of the MCP server as a client without an SDK does: one request, one JSON answer. */
export async function callTool(
  { gatewayUrl }: Endpoints,
  key: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  const response = await fetch(`${gatewayUrl}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`MCP answered ${response.status}: ${text.slice(0, 500)}`)
  const { result } = answer.parse(JSON.parse(text))
  return { structured: result.structuredContent, isError: result.isError }
}
