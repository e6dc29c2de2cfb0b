import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import { Api } from '../../src/api/api.ts'

/** An API over HTTP that answers as a test says. */
export interface ScriptedApi {
  readonly api: Api
  close(): Promise<void>
}

/** An answer with another status than 200. */
export class ScriptedRefusal {
  readonly status: number
  readonly document: Readonly<Record<string, unknown>>

  constructor(status: number, document: Readonly<Record<string, unknown>>) {
    this.status = status
    this.document = document
  }
}

/** @param answer the document of the answer to a request, or a `ScriptedRefusal`; undefined: 204. */
export async function scriptedApi(
  answer: (request: IncomingMessage) => unknown,
  count: (bytes: number) => void = () => undefined,
): Promise<ScriptedApi> {
  const server = createServer((request, response) => {
    const answered = answer(request)
    const refusal = answered instanceof ScriptedRefusal ? answered : undefined
    const document = refusal?.document ?? answered
    response.statusCode = refusal?.status ?? (document === undefined ? 204 : 200)
    response.end(document === undefined ? undefined : JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const dispatcher = new Agent()
  const { signal } = new AbortController()
  const url = `http://127.0.0.1:${port}`
  return {
    api: new Api({ dispatcher, url, authorization: 'Bearer key', client: '', requestId: 'test', signal, count }),
    async close() {
      await dispatcher.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
