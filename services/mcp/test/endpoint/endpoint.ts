import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Service } from '@restante/service/process'
import {
  createTopics,
  freePort,
  GATEWAY_KEYS,
  GATEWAY_TOPICS,
  GatewayProcess,
  openRedis,
  startService,
} from '@restante/testkit'
import { service as mcp } from '../../src/main.ts'

/** The service behind a gateway of its own; all other services are unreachable. */
export interface TestEndpoint {
  readonly gateway: GatewayProcess
  readonly service: Service
  /** Base URL of the service itself, which only the gateway calls. */
  readonly url: string
  /** The official client with a key. */
  clientOf(key: string): Promise<Client>
  stop(): Promise<void>
}

/** @param environment of the gateway. */
export async function startEndpoint(environment: Readonly<Record<string, string>> = {}): Promise<TestEndpoint> {
  const redis = openRedis()
  const [topics, port] = await Promise.all([createTopics(GATEWAY_TOPICS), freePort()])
  const url = `http://127.0.0.1:${port}`
  const gateway = await GatewayProcess.start({ topics, redis, upstreams: { mcp: url }, environment })
  const config = mcp.configure({
    PORT: String(port),
    HOST: '127.0.0.1',
    PUBLIC_URL: gateway.url,
    DOCS_URL: 'http://docs.test',
    API_URL: gateway.url,
    GATEWAY_URL: gateway.url,
    PEER_KEY_GATEWAY: GATEWAY_KEYS.peer,
    CALLER_KEY: GATEWAY_KEYS.caller,
  })
  const service = await startService(mcp, config)
  const clients: Client[] = []
  return {
    gateway,
    service,
    url,
    async clientOf(key) {
      const client = new Client({ name: 'test', version: '1' })
      const requestInit = { headers: { authorization: `Bearer ${key}` } }
      await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit }))
      clients.push(client)
      return client
    },
    async stop() {
      for (const client of clients) await client.close()
      await service.stop()
      await gateway.stop()
      await Promise.all([topics.delete(), redis.close()])
    },
  }
}
