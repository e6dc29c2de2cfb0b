import { spawn } from 'node:child_process'
import path from 'node:path'
import { z } from 'zod'
import { converse } from '../../support/programs/conversation.ts'
import { describeAtFullLength, output } from '../../support/programs/programs.ts'
import { useSystem } from '../../support/suite.ts'
import { FURTHER_TOOLS, PUBLIC_TOOLS } from '../catalogue.ts'
import { everyCall } from '../every-call.ts'
import { npmPackages } from './npm-packages.ts'

const NAMES = [...PUBLIC_TOOLS.map(([name]) => name), ...FURTHER_TOOLS]
const LANGCHAIN = ['@langchain/mcp-adapters@1.1.4', '@langchain/core@1.4.0', '@langchain/langgraph@1.7.3']
const INSPECTOR = ['@modelcontextprotocol/inspector@2.12.0']
/** The first run on a machine installs the packages. */
const INSTALL_TIMEOUT = 300_000

describeAtFullLength({ programs: ['npm'] }, 'an agent of LangChain', () => {
  const system = useSystem()
  let folder: string
  beforeAll(async () => {
    folder = await npmPackages(LANGCHAIN)
  }, INSTALL_TIMEOUT)

  it('gets every tool and calls it, and is told what the API refuses', async () => {
    const program = path.join(import.meta.dirname, 'langchain.ts')
    const variables = { BASE: system.endpoints.gatewayUrl, AGENTMAIL_API_KEY: system.tenant.key }
    const child = spawn(process.execPath, [program, folder], { env: { PATH: process.env['PATH'], ...variables } })
    const result = await converse('langchain', child, { calls: () => everyCall(system) })
    expect(result).toEqual({ names: NAMES, failed: [], refused: expect.stringContaining('Inbox not found') })
  })
})

describeAtFullLength({ programs: ['npm'] }, 'the inspector of MCP', () => {
  const system = useSystem()
  let folder: string
  beforeAll(async () => {
    folder = await npmPackages(INSPECTOR)
  }, INSTALL_TIMEOUT)

  const inspect = async (...words: string[]): Promise<unknown> => {
    const inspector = path.join(folder, 'node_modules/.bin/mcp-inspector')
    const server = ['--cli', `${system.endpoints.gatewayUrl}/mcp`, '--transport', 'http']
    const header = ['--header', `Authorization: Bearer ${system.tenant.key}`]
    return JSON.parse(await output(process.execPath, [inspector, ...server, ...header, ...words]))
  }

  it('finds every tool, and no schema that other clients could not read', async () => {
    const listed = z.object({ tools: z.array(z.object({ name: z.string() })) })
    const { tools } = listed.parse(await inspect('--method', 'tools/list', '--strict'))
    expect(tools.map(({ name }) => name)).toEqual(NAMES)
  })

  it('calls tools with arguments from a command line', async () => {
    const call = (name: string, ...args: string[]) =>
      inspect('--method', 'tools/call', '--tool-name', name, ...args.flatMap((arg) => ['--tool-arg', arg]))
    const { inboxId } = await system.tenant.client.inboxes.create({ displayName: 'Inspected' })
    expect(await call('get_inbox', `inboxId=${inboxId}`)).toMatchObject({
      structuredContent: { inboxId, displayName: 'Inspected' },
    })
    expect(await call('list_messages', `inboxId=${inboxId}`, 'limit=5', 'includeSpam=true')).toMatchObject({
      structuredContent: { count: 0, messages: [] },
    })
  })
})
