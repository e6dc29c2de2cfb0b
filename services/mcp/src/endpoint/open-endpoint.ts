import type { Frame } from '@restante/kit'
import { Agent } from 'undici'
import type { Config } from '../config.ts'
import { createBodyThreads } from '../untrusted/index.ts'
import { Endpoint } from './endpoint.ts'

/** Below the 65 s after which the gateway closes idle connections. */
const KEEP_ALIVE_MS = 30_000
const CONNECT_TIMEOUT_MS = 2_000

/** Serves the MCP endpoint to the gateway. */
export function openEndpoint(frame: Frame<'mcp', 'gateway'>, config: Config): void {
  // As many connections as calls: one that waits for a message keeps its own for a minute.
  const dispatcher = new Agent({ keepAliveTimeout: KEEP_ALIVE_MS, connect: { timeout: CONNECT_TIMEOUT_MS } })
  frame.use({ name: 'client of the API', stage: 'base', stop: () => dispatcher.close() })
  const bodyThreads = createBodyThreads()
  frame.use({ name: 'threads of bodies', stage: 'base', stop: () => bodyThreads.close() })
  const stopping = new AbortController()
  // The first to stop: calls that wait are answered at once, long before the grace period is over.
  frame.use({ name: 'waiting calls', stage: 'sessions', stop: async () => stopping.abort() })
  const endpoint = new Endpoint({
    gateway: frame.peer('gateway'),
    callerKey: config.callerKey,
    api: { dispatcher, url: config.apiUrl },
    bodyThreads,
    docsUrl: config.docsUrl,
    stopping: stopping.signal,
    log: frame.log,
  })
  frame.listen({ handle: endpoint.handle })
}
