import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import {
  type InternalOperationId,
  type InternalRequestOf,
  type InternalResponseOf,
  internalOperations,
} from '@restante/contracts/internal'

type Answers = { [Id in InternalOperationId]?: (request: InternalRequestOf<Id>) => InternalResponseOf<Id> }

/** A fake mail-send: HTTP on loopback. A test sets its answers; an operation without one is 503. */
export interface FakeMailSend {
  readonly url: string
  answers: Answers
  stop(): Promise<void>
}

export async function startFakeMailSend(): Promise<FakeMailSend> {
  const server = createServer(async (request, response) => {
    const body: unknown = await json(request)
    response.setHeader('content-type', 'application/json')
    if (request.url === internalOperations['mail-send.findDeliveries'].path) {
      const answer = fake.answers['mail-send.findDeliveries']
      if (answer !== undefined) {
        const asked = internalOperations['mail-send.findDeliveries'].body.parse(body)
        response.end(JSON.stringify(answer(asked)))
        return
      }
    }
    response.writeHead(503).end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the fake mail-send is not listening')
  const fake: FakeMailSend = {
    url: `http://127.0.0.1:${address.port}`,
    answers: {},
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return fake
}
