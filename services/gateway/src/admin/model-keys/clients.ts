import { MCP_ENDPOINT } from '@restante/contracts/operations'

/** What a person pastes so that a program uses the tools with a key. */
export function printedClients(publicUrl: string, secret: string): string {
  const url = mcpUrl(publicUrl)
  const authorization = `Bearer ${secret}`
  const server = { type: 'http', url, headers: { Authorization: authorization } }
  return `
MCP server   ${url}

Paste into a shell, for Claude Code:
  claude mcp add --transport http restante ${url} --header "Authorization: ${authorization}"

Or into the configuration of a program that has "mcpServers":
  ${JSON.stringify({ mcpServers: { restante: server } })}

Other programs, and what else an agent needs: docs/guide-mcp.md`
}

export function mcpUrl(publicUrl: string): string {
  return `${publicUrl}${MCP_ENDPOINT.path}`
}
