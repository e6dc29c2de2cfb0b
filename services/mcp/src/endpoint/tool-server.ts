import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
} from '@modelcontextprotocol/sdk/types.js'
import type { Caller } from '@restante/contracts/access'
import { VERSION } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import type { Exchange, ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { Counter, Histogram } from 'prom-client'
import type { Api } from '../api/api.ts'
import { describedTools, findTool, TOOLS } from '../tools/catalogue.ts'
import type { Tool } from '../tools/definition/tool.ts'
import type { BodyReader } from '../untrusted/index.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { failed, succeeded } from './results.ts'

const callsTotal = new Counter({
  name: 'restante_tool_calls_total',
  help: 'Calls of tools by outcome: ok, aborted by the client, or the code of the error',
  labelNames: ['tool', 'outcome'],
})
// Counters that an alert or a dashboard watches begin at 0 (decision 83).
const WATCHED = ['ok', 'internal_error', 'service_unavailable', 'rate_limit_exceeded']
for (const { name } of TOOLS) for (const outcome of WATCHED) callsTotal.inc({ tool: name, outcome }, 0)
const callSeconds = new Histogram({
  name: 'restante_tool_call_duration_seconds',
  help: 'Time that calls of tools take, waiting on purpose included',
  labelNames: ['tool'],
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
})

/** Time between two notices of progress, in milliseconds. */
const PROGRESS_MS = 5_000

export interface ToolServerOptions {
  readonly caller: Caller
  readonly api: Api
  readonly reader: BodyReader
  readonly gateway: ServiceClient<'mcp'>
  /** Address of the client. */
  readonly peer: string
  readonly docsUrl: string
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
  /** Aborted when this instance shuts down. */
  readonly stopping: AbortSignal
  readonly facts: Exchange['facts']
  readonly log: Logger
}

/** What one request is answered with: the tools of its caller. */
export class ToolServer {
  readonly #options: ToolServerOptions
  readonly #server = new Server(
    { name: 'restante', title: 'Restante: e-mail inboxes for agents', version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )

  constructor(options: ToolServerOptions) {
    this.#options = options
    this.#server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: describedTools(options.caller) }))
    this.#server.setRequestHandler(CallToolRequestSchema, ({ params }, { sendNotification }) =>
      whileTelling(params, sendNotification, () => this.#call(params.name, params.arguments)),
    )
  }

  async serve(transport: Transport): Promise<void> {
    await this.#server.connect(transport)
  }

  async stop(): Promise<void> {
    await this.#server.close()
  }

  async #call(name: string, given: Readonly<Record<string, unknown>> = {}): Promise<CallToolResult> {
    const tool = findTool(name)
    if (tool === undefined)
      throw new McpError(ErrorCode.InvalidParams, `There is no tool ${JSON.stringify(name.slice(0, 100))}`)
    const measured = callSeconds.startTimer({ tool: name })
    const { result, outcome } = await this.#outcomeOf(tool, given)
    measured()
    callsTotal.inc({ tool: name, outcome })
    const { facts } = this.#options
    facts['tool'] = name
    facts['outcome'] = outcome
    return result
  }

  /** Whether the key may use the tool is decided by the API, as is everything else. */
  async #outcomeOf(tool: Tool, given: Readonly<Record<string, unknown>>) {
    const { api, reader, docsUrl, stopping, signal, log } = this.#options
    try {
      await this.#admit()
      return { result: succeeded(await tool.call({ api, reader, stopping }, given)), outcome: 'ok' }
    } catch (error) {
      // The client has disconnected: its answer is dropped, and the failure that follows is not an error of the service.
      if (signal.aborted) return { result: failed(error, docsUrl).result, outcome: 'aborted' }
      const { result, code, isOurs } = failed(error, docsUrl)
      if (isOurs) log.error({ err: error, tool: tool.name }, 'tool failed')
      return { result, outcome: code }
    }
  }

  /** @throws ApiError 429 */
  async #admit(): Promise<void> {
    const { gateway, caller, peer } = this.#options
    const { refusal } = await gateway.call('gateway.admitToolCall', {
      organization_id: caller.organization_id,
      credential_id: caller.credential.id,
      peer,
    })
    if (refusal === undefined) return
    const { message, fix, retry_after: retryAfter } = refusal
    throw new ApiError('rate_limit_exceeded', { message, fix, retryAfter })
  }
}

/** A client that asked for it is told that its call still runs, with the seconds so far (MCP, progress). */
async function whileTelling<Result>(
  { _meta: meta }: CallToolRequest['params'],
  send: (notification: ServerNotification) => Promise<void>,
  run: () => Promise<Result>,
): Promise<Result> {
  const progressToken = meta?.progressToken
  if (progressToken === undefined) return run()
  let progress = 0
  const timer = setInterval(() => {
    progress += PROGRESS_MS / 1_000
    // The client may have gone.
    send({ method: 'notifications/progress', params: { progressToken, progress } }).catch(() => undefined)
  }, PROGRESS_MS)
  try {
    return await run()
  } finally {
    clearInterval(timer)
  }
}
