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

function answerTo(answers: Answers, path: string | undefined, body: unknown): unknown {
  switch (path) {
    case internalOperations['mail-send.findDeliveries'].path:
      return answers['mail-send.findDeliveries']?.(internalOperations['mail-send.findDeliveries'].body.parse(body))
    case internalOperations['mail-send.forwardToOperator'].path:
      return answers['mail-send.forwardToOperator']?.(
        internalOperations['mail-send.forwardToOperator'].body.parse(body),
      )
    case internalOperations['mail-send.findListEntries'].path:
      return answers['mail-send.findListEntries']?.(internalOperations['mail-send.findListEntries'].body.parse(body))
    default:
      return undefined
  }
}

export async function startFakeMailSend(): Promise<FakeMailSend> {
  const server = createServer(async (request, response) => {
    const body: unknown = await json(request)
    response.setHeader('content-type', 'application/json')
    const answer = answerTo(fake.answers, request.url, body)
    if (answer === undefined) response.writeHead(503).end('{}')
    else response.end(JSON.stringify(answer))
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
