import { execFileSync } from 'node:child_process'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { root } from '@restante/local/settings.ts'
import { operate } from '@restante/testkit'
import { z } from 'zod'
import { type Example, examplesIn } from '../../support/fenced.ts'
import type { Suite } from '../../support/suite.ts'
import { newUsername } from '../../support/tenants.ts'

const GUIDE = 'docs/guide-mcp.md'
/** How programs write that a value of the environment, or one that they ask for, is to be put in. */
const KEYS = /am_\.\.\.|\$\{(?:env:|input:)?[\w-]+\}|\$AGENTMAIL_API_KEY/g

/** The fenced blocks of the guide. */
export function guide(): Promise<Example[]> {
  return examplesIn(GUIDE)
}

/** An inbox with the key that the guide has the operator make for its agent. */
export async function modelInbox({ tenant, endpoints }: Suite): Promise<{ inboxId: string; key: string }> {
  const { inboxId } = await tenant.client.inboxes.create({ username: newUsername('desk') })
  const words = ['keys', 'create-for-model', inboxId, '--allow', 'labels,send', '--json']
  const made = z.object({ api_key: z.string() }).parse(JSON.parse(await operate(endpoints.operator, ...words)))
  return { inboxId, key: made.api_key }
}

/** A block of the guide with the address of a system and of an inbox in place of the written ones. */
export function adapted(code: string, { endpoints }: Suite, inboxId = 'desk@restante.test'): string {
  return code
    .replaceAll('http://127.0.0.1:3000', endpoints.gatewayUrl)
    .replaceAll('/path/to/restante', root)
    .replaceAll('desk@restante.test', inboxId)
}

/** A configuration, with the key wherever a program would put it. */
export function withKey(configuration: string, key: string): string {
  return configuration.replaceAll(KEYS, key)
}

const local = z.strictObject({
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
})
const remote = z
  .strictObject({
    type: z.literal('http').optional(),
    url: z.url().optional(),
    httpUrl: z.url().optional(),
    headers: z.record(z.string(), z.string()),
    timeout: z.int().optional(),
  })
  .transform(({ url, httpUrl, headers }) => ({ url: url ?? httpUrl ?? '', headers }))
const servers = z.record(z.string(), z.union([local, remote]))
const configuration = z.union([
  z.strictObject({ mcpServers: servers }).transform(({ mcpServers }) => mcpServers),
  z.strictObject({ servers, inputs: z.array(z.looseObject({ id: z.string() })) }).transform((given) => given.servers),
  z.strictObject({ context_servers: servers }).transform((given) => given.context_servers),
])
const toml = z.strictObject({
  mcp_servers: z.record(
    z.string(),
    z.strictObject({ url: z.url(), bearer_token_env_var: z.string(), tool_timeout_sec: z.int() }),
  ),
})

type Server = z.output<typeof local> | z.output<typeof remote>

/** The servers that a configuration in JSON names. */
export function serversIn(text: string): Server[] {
  return Object.values(configuration.parse(JSON.parse(text)))
}

/** The servers that a configuration of Codex names, whose keys are in variables. */
export function serversInToml(text: string, environment: Readonly<Record<string, string>>): Server[] {
  const program = 'import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.stdin.read())))'
  const parsed = toml.parse(JSON.parse(execFileSync('python3', ['-c', program], { input: text, encoding: 'utf8' })))
  return Object.values(parsed.mcp_servers).map(({ url, bearer_token_env_var: variable }) => ({
    url,
    headers: { Authorization: `Bearer ${environment[variable]}` },
  }))
}

/** The tools that a client gets from a server which it starts, or calls, as its configuration says. */
export async function toolsOf(server: Server): Promise<string[]> {
  const client = new Client({ name: 'a program', version: '1.0.0' })
  await client.connect(transportTo(server))
  try {
    return (await client.listTools()).tools.map(({ name }) => name)
  } finally {
    await client.close()
  }
}

function transportTo(server: Server): Transport {
  if ('command' in server) return new StdioClientTransport(server)
  return new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } })
}
