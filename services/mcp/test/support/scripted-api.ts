import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import { Api } from '../../src/api/api.ts'

/** An API over HTTP that answers as a test says. */
export interface ScriptedApi {
  readonly api: Api
  close(): Promise<void>
}

/** @param answer the document of the answer to a request; undefined: 204. */
export async function scriptedApi(
  answer: (request: IncomingMessage) => unknown,
  count: (bytes: number) => void = () => undefined,
): Promise<ScriptedApi> {
  const server = createServer((request, response) => {
    const document = answer(request)
    response.statusCode = document === undefined ? 204 : 200
    response.end(document === undefined ? undefined : JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const dispatcher = new Agent()
  const { signal } = new AbortController()
  const url = `http://127.0.0.1:${port}`
  return {
    api: new Api({ dispatcher, url, authorization: 'Bearer key', requestId: 'test', signal, count }),
    async close() {
      await dispatcher.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
