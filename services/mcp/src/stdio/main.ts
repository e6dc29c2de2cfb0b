// `npm run mcp`: the tools over standard input and output, for programs that start their MCP server themselves.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { bridge } from './bridge.ts'

const { AGENTMAIL_API_KEY: apiKey, AGENTMAIL_BASE_URL: baseUrl } = process.env

if (apiKey === undefined || baseUrl === undefined || !URL.canParse(baseUrl)) {
  // Standard output belongs to the protocol.
  process.stderr.write(`The MCP server needs two variables:
  AGENTMAIL_BASE_URL  address of the installation, for example http://127.0.0.1:3000
  AGENTMAIL_API_KEY   an API key of it\n`)
  process.exitCode = 1
} else {
  const client = new StdioServerTransport()
  process.stdin.once('end', () => void client.close())
  await bridge(client, { baseUrl, apiKey })
}
