import { randomUUID } from 'node:crypto'
import { type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'
import { holdMessage, sourceOf } from '../support/sources.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
})
afterAll(() => fixture.stop())

describe('messages.forward', () => {
  it('attaches the html that cannot be put into another page, where it has no text beside it', async () => {
    const caller = inboxCaller()
    const html = `<p>Grüße</p>${'<br>'.repeat(100_000)}<p>The end</p>`
    const { text: _, ...htmlOnly } = sourceOf(caller, { html })
    holdMessage(fixture, htmlOnly)
    const to = `dora-${randomUUID().slice(0, 6)}@outside.example`
    const path = `/messages/${encodeURIComponent(htmlOnly.message_id)}/forward`
    const answer = await fixture.call('messages.forward', caller, { path, body: { to, text: 'See below.' } })
    expect(answer.status).toBe(200)
    const { parsed } = await fixture.outside.next(to)
    expect(parsed.text).toContain('attached as original.html')
    expect(parsed.attachments).toMatchObject([{ filename: 'original.html', contentType: 'text/html' }])
    expect(parsed.attachments[0]?.content.toString()).toBe(html)
  })
})
