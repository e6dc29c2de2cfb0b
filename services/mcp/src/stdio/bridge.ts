import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  ErrorCode,
  InitializeResultSchema,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'

export interface Installation {
  /** Base URL of the API, as clients use it. */
  readonly baseUrl: string
  readonly apiKey: string
}

/**
 * Carries messages between a client that has started this program, and the MCP endpoint of an installation. What the tools
 * are and do is decided there: requests stand alone, so a message that fails needs no new connection.
 * @param client the end of the client: standard input and output.
 * @returns when the client has closed it.
 */
export async function bridge(client: Transport, { baseUrl, apiKey }: Installation): Promise<void> {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/mcp`)
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } }
  const server = new StreamableHTTPClientTransport(url, { requestInit })
  const isOver = Promise.withResolvers<void>()
  const unanswered = new Set<Promise<void>>()
  client.onclose = () => isOver.resolve()
  server.onmessage = (message) => {
    noteVersion(server, message)
    void client.send(message)
  }
  client.onmessage = (message) => {
    // The answer has been handed over when this ends.
    const sent = server.send(message).catch((error: unknown) => {
      if (isJSONRPCRequest(message)) void client.send(refusal(message.id, error))
    })
    unanswered.add(sent)
    void sent.finally(() => unanswered.delete(sent))
  }
  await server.start()
  await client.start()
  await isOver.promise
  await Promise.all(unanswered)
  await server.close()
}

/** Later requests to the endpoint name the version of the protocol, which the answer to the first one has decided. */
function noteVersion(server: StreamableHTTPClientTransport, message: JSONRPCMessage): void {
  if (!isJSONRPCResultResponse(message)) return
  const initialized = InitializeResultSchema.safeParse(message.result)
  if (initialized.success) server.setProtocolVersion(initialized.data.protocolVersion)
}

function refusal(id: RequestId, error: unknown): JSONRPCMessage {
  const message = error instanceof Error ? error.message : 'The request failed'
  return { jsonrpc: '2.0', id, error: { code: ErrorCode.InternalError, message } }
}
