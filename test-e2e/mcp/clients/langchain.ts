// Lists and calls every tool as an agent of LangChain does: `langchain.ts <folder of the packages>`.
import { createRequire } from 'node:module'
import path from 'node:path'
import { createInterface } from 'node:readline/promises'
import { z } from 'zod'

interface LangChainTool {
  readonly name: string
  readonly invoke: (args: object) => Promise<unknown>
}
interface Adapters {
  readonly MultiServerMCPClient: new (
    servers: object,
  ) => { readonly getTools: () => Promise<LangChainTool[]>; readonly close: () => Promise<void> }
}

const [folder = ''] = process.argv.slice(2)
const { BASE, AGENTMAIL_API_KEY } = process.env
const load = createRequire(path.join(folder, 'package.json'))
const { MultiServerMCPClient }: Adapters = load('@langchain/mcp-adapters')

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
async function ask(name: string): Promise<unknown> {
  process.stdout.write(`${JSON.stringify({ ask: name })}\n`)
  return JSON.parse(String((await lines.next()).value))
}

const headers = { authorization: `Bearer ${AGENTMAIL_API_KEY}` }
const client = new MultiServerMCPClient({
  mcpServers: { restante: { transport: 'http', url: `${BASE}/mcp`, headers } },
})
const tools = await client.getTools()
const byName = new Map(tools.map((tool) => [tool.name, tool]))
const calls = z.array(z.tuple([z.string(), z.record(z.string(), z.unknown())])).parse(await ask('calls'))
const failed: unknown[] = []
for (const [name, args] of calls) {
  try {
    const answer = await byName.get(name)?.invoke(args)
    if (JSON.stringify(answer ?? '').length < 3) failed.push([name, answer])
  } catch (error) {
    failed.push([name, String(error)])
  }
}
let refused = ''
try {
  await byName.get('get_inbox')?.invoke({ inboxId: 'nobody@nowhere.invalid' })
} catch (error) {
  refused = String(error)
}
await client.close()
process.stdout.write(`${JSON.stringify({ result: { names: [...byName.keys()], failed, refused } })}\n`)
process.exit()
