import { findTool } from '../../src/tools/catalogue.ts'
import { createBodyThreads } from '../../src/untrusted/index.ts'
import { type ScriptedApi, scriptedApi } from '../support/scripted-api.ts'

describe('an argument that a tool does not have', () => {
  const requests: string[] = []
  const { signal: stopping } = new AbortController()
  const threads = createBodyThreads()
  const reader = threads.readerOf('organization')
  let scripted: ScriptedApi

  beforeAll(async () => {
    scripted = await scriptedApi(({ method, url }) => {
      requests.push(`${method} ${url}`)
      return { count: 0, messages: [] }
    })
  })
  beforeEach(() => requests.splice(0))
  afterAll(async () => {
    await threads.close()
    await scripted.close()
  })

  const call = (name: string, args: Record<string, unknown>) =>
    findTool(name)?.call({ api: scripted.api, reader, stopping }, { inboxId: 'a@b.example', ...args })

  it.each([
    ['send_message', { to: ['b@b.example'], sendAt: '2030-01-01T00:00:00Z' }, 'sendAt'],
    ['update_draft', { draftId: 'd', attachments: [] }, 'attachments'],
    ['delete_inbox', { only: 'trash' }, 'only'],
  ])('is refused by %s, which changes something', async (name, args, argument) => {
    const refusal = { status: 400, message: `${argument}: This tool has no such argument` }
    await expect(call(name, args)).rejects.toMatchObject(refusal)
    expect(requests).toEqual([])
  })

  it('is passed over by a tool that only reads', async () => {
    await call('list_messages', { colour: 'red' })
    expect(requests).toEqual(['GET /v0/inboxes/a%40b.example/messages?limit=10'])
  })
})
