import { z } from 'zod'
import { BASE, define, MAIL_BODY } from '../../definition/define.ts'
import { TIERS } from '../../vocabulary/tiers.ts'
import { TOOL_LIMITS } from '../../vocabulary/tools.ts'

/**
 * The MCP endpoint (mcp 1). It is beside the API, not part of it: its path has no prefix, and what travels is JSON-RPC. The
 * gateway authenticates it like an operation; the tools behind it call the API with the key of the request.
 */
export const MCP_ENDPOINT = define({
  ...BASE,
  id: 'mcp.call',
  method: 'POST',
  path: '/mcp',
  prefixes: [],
  tiers: TIERS,
  permission: 'any',
  passesKey: true,
  service: 'mcp',
  summary: 'Call tools over the Model Context Protocol (Streamable HTTP)',
  waits: TOOL_LIMITS.wait.max * 1_000,
  bodyLimit: MAIL_BODY,
  body: z.unknown(),
  response: z.unknown(),
})
