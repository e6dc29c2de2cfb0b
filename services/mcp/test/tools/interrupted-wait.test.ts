import { failed } from '../../src/endpoint/results.ts'
import { waitForMessage } from '../../src/tools/mail/waiting.ts'
import { createBodyThreads } from '../../src/untrusted/index.ts'
import { type ScriptedApi, ScriptedRefusal, scriptedApi } from '../support/scripted-api.ts'

const LIMITED = new ScriptedRefusal(429, { code: 'rate_limit_exceeded', message: 'Too many', fix: 'Wait.' })
const BROKEN = new ScriptedRefusal(503, { code: 'service_unavailable', message: 'Down' })
const OLD = new ScriptedRefusal(400, { code: 'validation_error', message: 'This cursor is older than the log' })

let scripted: ScriptedApi
const threads = createBodyThreads()
const reader = threads.readerOf('organization')
afterAll(() => threads.close())
afterEach(() => scripted.close())

const { signal: stopping } = new AbortController()
const received = (sender: string) => ({
  event_id: sender,
  message: { message_id: `<${sender}>`, thread_id: 't', from: sender },
})

/** The API of an inbox with one message of eve after another, each of which moves the cursor on. */
function answering({ polls, messages = BROKEN }: { polls: readonly unknown[]; messages?: unknown }) {
  const answers = polls.values()
  return scriptedApi(({ url = '' }) => (url.includes('/messages/') ? messages : answers.next().value))
}

/** What a wait that fails is answered with. */
async function failureOf(args: Readonly<Record<string, unknown>>) {
  const call = waitForMessage.call({ api: scripted.api, reader, stopping }, { inboxId: 'a@b.example', ...args })
  const error = await call.then(
    () => undefined,
    (failure: unknown) => failure,
  )
  const { result, code } = failed(error, 'https://docs.example')
  return { code, isError: result.isError, document: result.structuredContent, content: JSON.stringify(result.content) }
}

describe('a wait that fails on its way', () => {
  const beginning = { events: [], cursor: 'cursor-0' }
  const unwanted = { events: [received('eve@evil.example')], cursor: 'cursor-1', has_more: true }

  it.each([
    ['a limit is reached', LIMITED],
    ['the API is down', BROKEN],
  ])('is answered with the place that it has reached, so that no message is missed: %s', async (_what, refusal) => {
    scripted = await answering({ polls: [beginning, unwanted, refusal] })
    const { code, isError, document, content } = await failureOf({ from: 'bo@b.example' })
    expect([code, isError]).toEqual([refusal.document['code'], true])
    expect(document).toEqual({ ...refusal.document, cursor: 'cursor-1' })
    expect(content).toContain('cursor-1')
    expect(content).toContain(String(refusal.document['message']))
  })

  it('is answered with the place before a message that could not be fetched', async () => {
    scripted = await answering({ polls: [beginning, unwanted], messages: LIMITED })
    expect((await failureOf({})).document).toMatchObject({ code: 'rate_limit_exceeded', cursor: 'cursor-0' })
  })

  it('is not told to repeat what would be refused again', async () => {
    scripted = await answering({ polls: [OLD] })
    const { document, content } = await failureOf({ after: 'old' })
    expect(document).toEqual(OLD.document)
    expect(content).not.toContain('again')
  })
})
