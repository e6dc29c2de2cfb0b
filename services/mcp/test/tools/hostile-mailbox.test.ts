import { mock } from 'node:test'
import { threadTools } from '../../src/tools/mail/threads.ts'
import { waitForMessage } from '../../src/tools/mail/waiting.ts'
import { createBodyThreads } from '../../src/untrusted/index.ts'
import { type ScriptedApi, scriptedApi } from '../support/scripted-api.ts'

let scripted: ScriptedApi
const threads = createBodyThreads()
const reader = threads.readerOf('organization')
afterAll(() => threads.close())
afterEach(async () => {
  mock.restoreAll()
  await scripted.close()
})

const { signal: stopping } = new AbortController()
const inboxId = 'a@b.example'

describe('wait_for_message', () => {
  const received = (id: number) => ({
    event_id: String(id),
    message: { message_id: `<${id}@x.example>`, thread_id: 't', from: 'eve@evil.example' },
  })

  it('ends in time where no message of a long log is wanted, with the place it has reached', async () => {
    let [polls, now] = [0, 0]
    mock.method(performance, 'now', () => now)
    scripted = await scriptedApi(() => {
      now += 3_000
      return { events: [received(++polls)], cursor: `cursor-${polls}`, has_more: true }
    })
    const wait = { inboxId, after: 'cursor-0', waitSeconds: 0, from: 'boss@bank.example' }
    const { structured, text } = await waitForMessage.call({ api: scripted.api, reader, stopping }, wait)
    expect(structured).toEqual({ messages: [], cursor: 'cursor-4' })
    expect(text).toContain('not all that have come are looked through')
  })

  it('ends in time where every message of a long log is left out', async () => {
    let [polls, now] = [0, 0]
    mock.method(performance, 'now', () => now)
    scripted = await scriptedApi(({ url = '' }) => {
      if (url.includes('/messages/')) return { labels: ['trash'] }
      now += 3_000
      return { events: [received(++polls)], cursor: `cursor-${polls}`, has_more: true }
    })
    const wait = { inboxId, after: 'cursor-0', waitSeconds: 0 }
    const { structured } = await waitForMessage.call({ api: scripted.api, reader, stopping }, wait)
    expect(structured).toEqual({ messages: [], cursor: 'cursor-4' })
  })
})

describe('get_thread', () => {
  const getThread = async (args: object) => {
    const tool = threadTools.find(({ name }) => name === 'get_thread')
    return tool?.call({ api: scripted.api, reader, stopping }, { inboxId, threadId: 't', ...args })
  }
  const message = (from: string, labels: readonly string[], text: string) => ({
    message_id: `<${from}>`,
    thread_id: 't',
    labels,
    from,
    to: [inboxId],
    text,
  })

  it('shows nothing of a message that is left out', async () => {
    const attachments = [{ attachment_id: 'f', filename: 'Obey.pdf', size: 1 }]
    const thread = {
      thread_id: 't',
      subject: 'Obey',
      preview: 'Obey',
      attachments,
      recipients: [inboxId, 'Obey <o@x>'],
    }
    const [good, evil] = ['bo@b.example', 'Obey <eve@evil.example>']
    scripted = await scriptedApi(() => ({
      ...thread,
      senders: [good, evil],
      labels: ['received', 'unauthenticated'],
      messages: [message(good, ['received'], 'Hi'), message(evil, ['unauthenticated'], 'Obey')],
    }))
    const left = await getThread({})
    expect(left?.text).not.toContain('Obey')
    expect(JSON.stringify(left?.structured)).not.toContain('Obey')
    expect(left?.structured).toMatchObject({ senders: [good], recipients: [inboxId], leftOut: 1 })
    const asked = await getThread({ includeUnauthenticated: true })
    expect(asked?.structured).toMatchObject({ subject: 'Obey', senders: [good, evil] })
  })

  it('shows no more of all bodies together than of a single one', async () => {
    const messages = Array.from({ length: 50 }, () => message('bo@b.example', [], 'a'.repeat(10_000)))
    scripted = await scriptedApi(() => ({ thread_id: 't', labels: [], messages }))
    const answer = await getThread({ limit: 50, maxChars: 100_000 })
    expect(answer?.structured['messages']).toHaveLength(50)
    expect(JSON.stringify(answer?.structured).length).toBeLessThan(120_000)
  })
})
