import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { type OperationDefinition, operations } from '@restante/contracts/operations'
import { Agent, type Dispatcher } from 'undici'
import { onThisMachine, sampleByLength } from '../../src/testing.ts'
import { HostileBodies, type HostileBody } from './hostile-bodies.ts'

/** The longest time that one body may block a process, and on this machine. */
const PROMISED_MS = 50
const BLOCKED_MS = onThisMachine(PROMISED_MS)
/** The first request of a kind pays for compilation, and a garbage collection may fall into any of them. */
const TRIES = 4

const all = Object.values<OperationDefinition>(operations)
  .filter(({ body }) => body !== undefined)
  .map((operation) => ({ operation, id: operation.id }))

describe('the largest body of every operation', () => {
  const bodies = new HostileBodies()
  const agent = new Agent({ connections: 1 })
  let reader: ChildProcess
  let origin: string
  beforeAll(async () => {
    reader = fork(path.join(import.meta.dirname, '../fixtures/every-body.ts'), { execArgv: [] })
    const [port] = await once(reader, 'message')
    origin = `http://127.0.0.1:${port}`
  })
  afterAll(async () => {
    reader.kill()
    await agent.close()
  })

  it.each(all)(`blocks a process of $id for at most ${PROMISED_MS} ms`, async ({ operation }) => {
    const slow: string[] = []
    for (const hostile of sampleByLength(8, bodies.of(operation))) {
      const ms = await blockedBy(operation, hostile)
      // The machine may have become slower since the start.
      if (ms > BLOCKED_MS && ms > onThisMachine(PROMISED_MS)) slow.push(`${hostile.what}: ${ms} ms`)
    }
    expect(slow).toEqual([])
  })

  /** The minimum of several tries, in milliseconds. */
  async function blockedBy({ id }: OperationDefinition, { what, make }: HostileBody): Promise<number> {
    const body = make()
    let least = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < TRIES && least > BLOCKED_MS; attempt++) {
      const { statusCode, body: answer } = await send('POST', `/${id}`, body)
      const document = json(await answer.json())
      const errors = Array.isArray(document['errors']) ? document['errors'] : []
      expect({ what, statusCode, few: errors.length < 100 }).toEqual({
        what,
        statusCode: statusCode === 200 ? 200 : 400,
        few: true,
      })
      const blocked = await (await send('GET', '/blocked')).body.json()
      least = Math.min(least, Number(json(blocked)['ms']))
    }
    return least
  }

  function send(method: Dispatcher.HttpMethod, target: string, body?: Buffer): Promise<Dispatcher.ResponseData> {
    return agent.request({ origin, path: target, method, body: body ?? null })
  }
})

function json(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
