import { readFileSync } from 'node:fs'
import path from 'node:path'
import { waitFor } from '@restante/testkit'
import { invite } from '../support/calendars.ts'
import { inboxWithMail, mailTo } from '../support/mail.ts'
import { useSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'
import { FURTHER_TOOLS, PUBLIC_TOOLS } from './catalogue.ts'
import { openToolClient, type ToolClient } from './client.ts'
import { isPublicShape, problemsOf } from './public-shapes.ts'

const FILES = path.resolve(import.meta.dirname, '../../libs/mime/test/documents/fixtures')
const file = (name: string) => ({ filename: name, content: readFileSync(path.join(FILES, name)) })

describe('the tools, as the official client calls them', () => {
  const system = useSystem()
  let tools: ToolClient
  const called = new Set<string>()
  beforeAll(async () => {
    tools = system.cleanUp(await openToolClient(system.endpoints, system.tenant.key))
  })

  /** Calls a tool, whose answer must also be one that clients of the public toolkit understand. */
  async function call(name: string, args: Readonly<Record<string, unknown>> = {}) {
    called.add(name)
    const answer = await tools.call(name, args)
    expect(problemsOf(name, answer)).toEqual([])
    return answer
  }
  const newInbox = async () => String((await call('create_inbox'))['inboxId'])
  const idOf = (document: Readonly<Record<string, unknown>>, name: string) => String(document[name])
  const entriesOf = (document: Readonly<Record<string, unknown>>, name: string) => entries(document[name])

  it('have the names, order, titles and annotations of the public catalogue, and further ones after it', async () => {
    const { tools: listed } = await tools.client.listTools()
    const expected = PUBLIC_TOOLS.map(([name, title, hints]) => ({
      name,
      title,
      annotations: {
        title,
        readOnlyHint: hints.includes('R'),
        destructiveHint: hints.includes('D'),
        idempotentHint: hints.includes('I'),
        openWorldHint: hints.includes('O'),
      },
    }))
    const facts = listed.map(({ name, title, annotations }) => ({ name, title, annotations }))
    expect(facts.slice(0, PUBLIC_TOOLS.length)).toEqual(expected)
    expect(facts.slice(PUBLIC_TOOLS.length).map(({ name }) => name)).toEqual(FURTHER_TOOLS)
    for (const { description, inputSchema, outputSchema, annotations } of listed) {
      expect(description).toMatch(/\.$/)
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object'])
      expect(Object.keys(annotations ?? {})).toHaveLength(5)
    }
    expect(listed.filter(({ name }) => isPublicShape(name)).length).toBe(PUBLIC_TOOLS.length + 1)
  })

  it('create, find, change and delete inboxes', async () => {
    const clientId = newUsername('client')
    const made = await call('create_inbox', { displayName: 'Desk', clientId, metadata: { order_id: 7, gone: 'x' } })
    const inboxId = idOf(made, 'inboxId')
    expect(await call('create_inbox', { client_id: clientId, display_name: 'Desk', metadata: null })).toMatchObject({
      inboxId,
    })
    expect(await call('get_inbox', { inbox_id: clientId })).toMatchObject({ inboxId, metadata: { order_id: 7 } })
    const changed = await call('update_inbox', { inboxId, displayName: null, metadata: { gone: null, Kept: true } })
    expect(changed).toMatchObject({ displayName: 'Desk', metadata: { order_id: 7, Kept: true } })
    expect(changed['metadata']).not.toHaveProperty('gone')
    expect(await call('delete_inbox', { inboxId })).toEqual({ success: true })
    expect(await tools.attempt('get_inbox', { inboxId })).toMatchObject({
      isError: true,
      structuredContent: { code: 'not_found' },
    })
  })

  it('page through lists by their tokens, ten entries at a time unless asked otherwise', async () => {
    await Promise.all(Array.from({ length: 12 }, newInbox))
    const first = await call('list_inboxes')
    expect([first['count'], first['limit'], entriesOf(first, 'inboxes').length]).toEqual([10, 10, 10])
    const seen = new Set<string>()
    let pageToken: unknown
    do {
      const page = await call('list_inboxes', { limit: 4, pageToken })
      for (const each of entriesOf(page, 'inboxes')) seen.add(idOf(each, 'inboxId'))
      pageToken = page['nextPageToken']
    } while (pageToken !== undefined)
    expect(seen.size).toBeGreaterThanOrEqual(12)
  })

  it('show, find and label received mail, without bodies in lists', async () => {
    const { inboxId, message } = await inboxWithMail(system, { subject: 'Cranes and ports', text: 'All about cranes' })
    const [listed] = entriesOf(await call('list_messages', { inboxId, from: [system.peer.domain] }), 'messages')
    expect(listed).toMatchObject({ messageId: message.messageId, authentication: { verdict: expect.any(String) } })
    for (const body of ['text', 'extractedText', 'html']) expect(listed).not.toHaveProperty(body)
    const { threadId, messageId } = message
    expect(entriesOf(await call('list_threads', { inboxId, subject: ['ports'] }), 'threads')).toMatchObject([
      { threadId },
    ])
    expect(await call('list_threads', { inboxId, subject: ['none'] })).toMatchObject({ count: 0, threads: [] })
    for (const [tool, name] of [
      ['search_messages', 'messages'],
      ['search_threads', 'threads'],
    ] as const) {
      await waitFor(async () => (await call(tool, { inboxId, q: 'cranes' }))['count'] === 1, {
        what: `a hit of ${tool}`,
      })
      expect(entriesOf(await call(tool, { inboxId, q: 'cranes' }), name)).toMatchObject([{ threadId }])
    }
    const { messages, ...thread } = await call('get_thread', { inboxId, threadId })
    expect([thread['messageCount'], entries(messages)]).toMatchObject([
      1,
      [{ messageId, extractedText: expect.stringContaining('All about cranes') }],
    ])
    expect(await call('get_message', { inboxId, messageId })).toMatchObject({ messageId, threadId })
    expect(await call('update_message', { inboxId, messageId, addLabels: ['seen'], removeLabels: ['unread'] })).toEqual(
      {
        messageId,
        labels: expect.arrayContaining(['seen']),
      },
    )
    expect(await call('update_thread', { inboxId, threadId, add_labels: ['done'] })).toMatchObject({
      labels: expect.arrayContaining(['seen', 'done']),
    })
    expect(entriesOf(await call('list_messages', { inboxId, labels: ['seen', 'done'] }), 'messages')).toHaveLength(1)
    expect(entriesOf(await call('list_events', { inboxId }), 'events')[0]).toMatchObject({
      eventType: expect.any(String),
    })
    expect(await call('delete_thread', { inboxId, threadId })).toEqual({ success: true })
  })

  it('give the text of a PDF and of a word-processor file, and pass files on by reference', async () => {
    const inboxId = await newInbox()
    const {
      threadId,
      messageId,
      attachments = [],
    } = await mailTo(system, inboxId, {
      attachments: [file('invoice.pdf'), file('offer.docx'), { filename: 'a.bin', content: 'Bytes' }],
    })
    const attachment = async (filename: string) => {
      const attachmentId = attachments.find((each) => each.filename === filename)?.attachmentId
      return call('get_attachment', { inboxId, threadId, attachmentId })
    }
    for (const [filename, words] of [
      ['invoice.pdf', /\w/],
      ['offer.docx', /Harbour Pilots Ltd\./],
    ] as const) {
      const found = await waitFor(
        async () => {
          const answer = await attachment(filename)
          return answer['text'] === undefined ? undefined : answer
        },
        { what: `the text of ${filename}` },
      )
      expect(found).toMatchObject({ filename, text: expect.stringMatching(words), body: { offset: 0 } })
      expect((await fetch(idOf(found, 'downloadUrl'))).status).toBe(200)
    }
    expect(await attachment('a.bin')).not.toHaveProperty('text')
    const to = system.peer.address(newUsername())
    const reference = { messageId, attachmentId: attachments[0]?.attachmentId }
    await call('send_message', {
      inboxId,
      to: [to],
      text: 'Here it is',
      attachments: [reference, { filename: 'b.txt', content_type: 'text/plain', content: 'Qg==', url: null }],
    })
    const { parsed } = await system.peer.server.next(to)
    const files = parsed.attachments.map(({ filename, content }) => [filename, content.length])
    expect(files).toEqual([
      ['invoice.pdf', file('invoice.pdf').content.length],
      ['b.txt', 1],
    ])
  })

  it('send, answer and forward, and wait for the answer', async () => {
    const inboxId = await newInbox()
    const { cursor } = await call('wait_for_message', { inboxId, waitSeconds: 0 })
    const to = system.peer.address(newUsername())
    const sent = await call('send_message', {
      inboxId,
      to: [to],
      cc: null,
      subject: 'Offer',
      text: 'Yes?',
      labels: ['offer'],
    })
    const { parsed } = await system.peer.server.next(to)
    const [answer, { messages, cursor: next }] = await Promise.all([
      mailTo(system, inboxId, {
        from: to,
        subject: 'Re: Offer',
        text: 'Yes!',
        inReplyTo: String(parsed.messageId),
      }),
      call('wait_for_message', { inboxId, after: cursor, threadId: sent['threadId'], waitSeconds: 50 }),
    ])
    expect(entries(messages)).toMatchObject([
      { messageId: answer.messageId, extractedText: expect.stringContaining('Yes!') },
    ])
    expect(await call('wait_for_message', { inboxId, after: next, waitSeconds: 0 })).toMatchObject({ messages: [] })
    const { messageId } = answer
    const reply = await call('reply_to_message', { inboxId, messageId, replyAll: true, text: 'Thanks' })
    expect(reply['threadId']).toBe(sent['threadId'])
    const third = system.peer.address(newUsername())
    await call('forward_message', { inboxId, messageId, to: [third], text: 'See below' })
    expect((await system.peer.server.next(third)).parsed.text).toContain('Yes!')
  })

  it('write, schedule, change, send and delete drafts', async () => {
    const inboxId = await newInbox()
    const to = system.peer.address(newUsername())
    const sendAt = '2031-03-03T09:00:00Z'
    const scheduled = await call('create_draft', { inboxId, to: [to], subject: 'Later', text: 'Hello', sendAt })
    const draftId = idOf(scheduled, 'draftId')
    expect(scheduled).toMatchObject({ sendStatus: 'scheduled', text: 'Hello' })
    expect(new Date(idOf(scheduled, 'sendAt'))).toEqual(new Date(sendAt))
    expect(entriesOf(await call('list_drafts', { inboxId, labels: ['scheduled'] }), 'drafts')).toMatchObject([
      { draftId },
    ])
    const moved = await call('update_draft', {
      inboxId,
      draftId,
      send_at: '2032-03-03T10:00:00+01:00',
      subject: 'Much later',
    })
    expect(moved).toMatchObject({ subject: 'Much later', sendAt: expect.stringMatching(/^2032-03-03T09:00:00/) })
    expect(await call('get_draft', { inboxId, draftId })).toMatchObject({ draftId, to: [to] })
    expect(await call('send_draft', { inboxId, draftId })).toMatchObject({ messageId: expect.any(String) })
    expect((await system.peer.server.next(to)).parsed.subject).toBe('Much later')
    const other = idOf(await call('create_draft', { inboxId, clientId: newUsername('draft') }), 'draftId')
    expect(await call('delete_draft', { inboxId, draftId: other })).toEqual({ success: true })
  })

  it('keep a calendar, and answer an invitation', async () => {
    const inboxId = await newInbox()
    const made = await call('create_calendar_event', {
      inboxId,
      title: 'Review',
      start: '2031-03-03T09:00:00',
      end: '2031-03-03T10:00:00',
      timezone: 'Europe/Berlin',
      attendees: [{ email: system.peer.address(), name: null }],
    })
    const eventId = eventIdOf(made)
    expect(await call('update_calendar_event', { inboxId, eventId, title: 'Renamed' })).toMatchObject({ eventId })
    expect(await call('get_calendar_event', { inboxId, eventId })).toMatchObject({ title: 'Renamed' })
    const window = { after: '2031-03-01T00:00:00Z', before: '2031-03-08T00:00:00Z' }
    expect(entriesOf(await call('list_calendar_events', { inboxId, ...window }), 'events')).toHaveLength(1)
    expect(JSON.stringify(await call('get_free_busy', { inboxIds: [inboxId], ...window }))).toContain(
      '2031-03-03T08:00:00',
    )
    await call('delete_calendar_event', { inboxId, eventId })
    expect(entriesOf(await call('list_calendar_events', { inboxId, ...window }), 'events')).toEqual([])
    const invited = await invite(system.peer, system.tenant.api, inboxId)
    expect(await call('respond_to_invitation', { inboxId, eventId: invited, status: 'accepted' })).toMatchObject({
      eventId: invited,
    })
  })

  it('tell what the key reaches', async () => {
    expect(await call('auth_me')).toMatchObject({ scopeType: 'organization', organizationId: system.tenant.id })
  })

  it('were all called above', () => {
    expect([...PUBLIC_TOOLS.map(([name]) => name), ...FURTHER_TOOLS].filter((name) => !called.has(name))).toEqual([])
  })
})

type Document = Readonly<Record<string, unknown>>

function entries(value: unknown): Document[] {
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`)
  return value.map((each) => ({ ...each }))
}

function eventIdOf(document: Document): string {
  return String(document['eventId'])
}
