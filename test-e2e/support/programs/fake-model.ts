import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { freePort } from '@restante/testkit'
import { z } from 'zod'

const request = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
})
export type ModelRequest = z.output<typeof request>

/** What the model does: it says something, or calls a tool. */
export type Turn =
  | { readonly says: string }
  | { readonly calls: string; readonly with: Readonly<Record<string, unknown>> }

/** A language model at its wire: the chat completions of OpenAI, decided by a function. */
export class FakeModel {
  readonly #server = createServer(async (incoming, response) => {
    const answered = await this.#answer(incoming).catch((error: unknown) => ({ status: 500, body: String(error) }))
    response.writeHead(answered.status, { 'content-type': 'application/json' }).end(JSON.stringify(answered.body))
  })
  readonly #decide: (given: ModelRequest) => Turn
  readonly #port: number
  readonly asked: ModelRequest[] = []

  private constructor(port: number, decide: (given: ModelRequest) => Turn) {
    this.#port = port
    this.#decide = decide
  }

  static async start(decide: (given: ModelRequest) => Turn): Promise<FakeModel> {
    const model = new FakeModel(await freePort(), decide)
    await new Promise<void>((resolve) => model.#server.listen(model.#port, '127.0.0.1', resolve))
    return model
  }

  /** What programs find in their environment. */
  get environment(): Record<string, string> {
    return { OPENAI_BASE_URL: `http://127.0.0.1:${this.#port}/v1`, OPENAI_API_KEY: 'none' }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(incoming: IncomingMessage) {
    if (incoming.url !== '/v1/chat/completions') return { status: 404, body: { error: { message: 'No such route' } } }
    const given = request.parse(await json(incoming))
    this.asked.push(given)
    return { status: 200, body: completion(given.model, this.#decide(given)) }
  }
}

function completion(model: string, turn: Turn) {
  const message =
    'says' in turn
      ? { role: 'assistant', content: turn.says }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: turn.calls, arguments: JSON.stringify(turn.with) } },
          ],
        }
  return {
    id: 'completion-1',
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1_000),
    model,
    choices: [{ index: 0, message, finish_reason: 'says' in turn ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}
