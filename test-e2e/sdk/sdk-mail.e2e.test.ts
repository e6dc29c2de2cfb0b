import { waitFor } from '@restante/testkit'
import { AgentMail } from 'agentmail'
import { inboxWithMail, mailTo } from '../support/mail.ts'
import { useSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'

describe('mail by the public client', () => {
  const system = useSystem()

  describe('messages', () => {
    it('are listed, read, labelled and deleted', async () => {
      const { inboxId, message } = await inboxWithMail(system, { subject: 'Order 7' })
      const { messageId } = message
      expect(message).toMatchObject({
        inboxId,
        subject: 'Order 7',
        labels: ['received', 'unread'],
        from: system.peer.address(),
      })
      const full = await system.tenant.client.inboxes.messages.get(inboxId, messageId)
      expect(full).toMatchObject({ text: expect.stringContaining('How are you?'), extractedText: 'How are you?' })
      expect(full.timestamp).toBeInstanceOf(Date)
      const changed = await system.tenant.client.inboxes.messages.update(inboxId, messageId, {
        addLabels: ['VIP'],
        removeLabels: 'unread',
      })
      expect(changed).toEqual({ messageId, labels: ['received', 'vip'] })
      await system.tenant.client.inboxes.messages.delete(inboxId, messageId)
      await expect(system.tenant.client.inboxes.messages.get(inboxId, messageId)).rejects.toBeInstanceOf(
        AgentMail.NotFoundError,
      )
      expect((await system.tenant.client.inboxes.threads.list(inboxId)).count).toBe(0)
    })

    it('are read and labelled several at a time, and each change is in the log', async () => {
      const { inboxId, message } = await inboxWithMail(system, { subject: 'One of several' })
      const { messageId } = message
      const { inboxes } = system.tenant.client
      const ids = [messageId, '<nothing@customer.test>']
      const found = await inboxes.messages.batchGet(inboxId, { messageIds: ids })
      expect(found).toMatchObject({ limit: 2, count: 1, messages: [{ messageId, subject: 'One of several' }] })
      const changed = await inboxes.messages.batchUpdate(inboxId, {
        messageIds: ids,
        addLabels: ['VIP'],
        removeLabels: ['unread'],
      })
      expect(changed).toMatchObject({ limit: 2, count: 1, updates: [{ messageId, labels: ['received', 'vip'] }] })
      const { events } = await inboxes.events.list(inboxId, { limit: 2 })
      expect(events).toMatchObject([
        { eventType: 'label.removed', label: 'unread', messageId, inboxId },
        { eventType: 'label.added', label: 'vip', messageId, inboxId },
      ])
      expect(events[0]?.eventAt).toBeInstanceOf(Date)
    })

    it('are found by a search, as are their threads, with what matched between asterisks', async () => {
      const { inboxId, message } = await inboxWithMail(system, { subject: 'Where the kingfisher nests' })
      const { client, id } = system.tenant
      const { messageId, threadId } = message
      const found = await waitFor(
        async () => {
          const { messages } = await client.inboxes.messages.search(inboxId, { q: 'KINGFISH nests', limit: 5 })
          return messages.length > 0 && messages
        },
        { what: 'the mail to be found' },
      )
      const highlights = { subject: ['Where the **kingfish**er **nests**'] }
      expect(found).toMatchObject([{ messageId, highlights }])
      for (const threads of [
        client.threads.search({ q: 'kingfisher' }),
        client.pods.threads.search(id, { q: 'kingfisher' }),
        client.inboxes.threads.search(inboxId, { q: 'kingfisher' }),
      ]) {
        expect((await threads).threads).toMatchObject([
          { threadId, highlights: { subject: ['Where the **kingfisher** nests'] } },
        ])
      }
      await expect(client.threads.search({ q: ' ' })).rejects.toBeInstanceOf(AgentMail.ValidationError)
    })

    it('are filtered by lists in the spelling of each client', async () => {
      const { inboxId, message } = await inboxWithMail(system, { subject: 'Fractions' })
      await system.tenant.client.inboxes.messages.update(inboxId, message.messageId, { addLabels: ['a', 'b'] })
      const list = async (query: AgentMail.inboxes.ListMessagesRequest) =>
        (await system.tenant.client.inboxes.messages.list(inboxId, query)).count
      expect(await list({ labels: ['a', 'b'] })).toBe(1)
      expect(await list({ labels: ['a', 'c'] })).toBe(0)
      expect(await list({ subject: ['fract'], from: [system.peer.domain], to: [inboxId] })).toBe(1)
      expect(await list({ before: message.timestamp })).toBe(0)
      expect(await list({ after: new Date(message.timestamp.getTime() - 1), ascending: true })).toBe(1)
      const path = `/v0/inboxes/${encodeURIComponent(inboxId)}/messages`
      const spellings = [
        'labels=a&labels=b',
        'labels=a,b',
        'labels[]=a&labels[]=b',
        'labels[0]=a&labels[1]=B',
        'labels=%5B%22a%22%2C%22b%22%5D',
      ]
      for (const spelling of spellings) {
        expect(await system.tenant.api.get(`${path}?${spelling}`)).toMatchObject({ status: 200, body: { count: 1 } })
      }
    })

    it('are filtered by senders and recipients of which every value matches, in any case', async () => {
      const { client } = system.tenant
      const { inboxId } = await client.inboxes.create({})
      const mail = { cc: 'Bo <bo@elsewhere.example>', envelope: { from: system.peer.address(), to: inboxId } }
      const { messageId } = await mailTo(system, inboxId, mail)
      const list = async (query: AgentMail.inboxes.ListMessagesRequest) =>
        (await client.inboxes.messages.list(inboxId, query)).messages.map((each) => each.messageId)
      for (const field of ['from', 'to'] as const) {
        const values = field === 'from' ? ['HUMAN@', system.peer.domain] : [inboxId.toUpperCase(), 'bo <BO@elsewhere']
        expect(await list({ [field]: values })).toEqual([messageId])
        for (const value of values) expect(await list({ [field]: [value, 'nowhere'] })).toEqual([])
      }
    })

    it('provide the raw mail and attachments by links that need no key', async () => {
      const { inboxId } = await system.tenant.client.inboxes.create({})
      const content = Buffer.from('%PDF-1.4 not really')
      await system.peer.send({
        to: inboxId,
        subject: 'Receipt',
        text: 'See file',
        attachments: [
          { filename: 'Quittung ü.pdf', content },
          { filename: 'note.rtf', content: '{\\rtf1 Approved by Ada}' },
        ],
      })
      const message = await waitFor(
        async () => (await system.tenant.client.inboxes.messages.list(inboxId)).messages[0],
        {
          what: 'the mail',
        },
      )
      const [attachment, note] = message.attachments ?? []
      if (!attachment || !note) throw new Error('the message has no attachments')
      expect(attachment).toMatchObject({
        filename: 'Quittung ü.pdf',
        size: content.length,
        contentType: 'application/pdf',
      })
      const link = await system.tenant.client.inboxes.messages.getAttachment(
        inboxId,
        message.messageId,
        attachment.attachmentId,
      )
      const file = await fetch(link.downloadUrl)
      expect(Buffer.from(await file.arrayBuffer())).toEqual(content)
      expect(link.expiresAt.getTime()).toBeGreaterThan(Date.now())
      const textUrl = await waitFor(
        async () => {
          const ofNote = await system.tenant.client.inboxes.messages.getAttachment(
            inboxId,
            message.messageId,
            note.attachmentId,
          )
          // The client passes on what its types do not know.
          return 'text_url' in ofNote && String(ofNote.text_url)
        },
        { what: 'the text of the note' },
      )
      expect(await (await fetch(textUrl)).text()).toBe('Approved by Ada')
      expect(link).not.toHaveProperty('text_url')
      const raw = await system.tenant.client.inboxes.messages.getRaw(inboxId, message.messageId)
      const bytes = await (await fetch(raw.downloadUrl)).text()
      expect(bytes).toContain('Subject: Receipt\r\n')
      expect(Buffer.byteLength(bytes)).toBe(raw.size)
    })
  })

  describe('sending', () => {
    it('sends, and replays a repeated key without a second mail', async () => {
      const { inboxId } = await system.tenant.client.inboxes.create({ displayName: 'Ann' })
      const to = system.peer.address(newUsername())
      const request = { to, subject: 'Hello', text: 'Plain', html: '<b>Rich</b>', labels: ['campaign'] }
      const idempotencyKey = newUsername('key')
      const first = await system.tenant.client.inboxes.messages.send(inboxId, request, { idempotencyKey })
      expect(await system.tenant.client.inboxes.messages.send(inboxId, request, { idempotencyKey })).toEqual(first)
      const other = system.tenant.client.inboxes.messages.send(
        inboxId,
        { ...request, text: 'Other' },
        { idempotencyKey },
      )
      await expect(other).rejects.toBeInstanceOf(AgentMail.ConflictError)
      const mail = await system.peer.server.next(to)
      expect(mail.parsed).toMatchObject({ messageId: first.messageId, subject: 'Hello' })
      const copy = await system.tenant.client.inboxes.messages.get(inboxId, first.messageId)
      expect(copy).toMatchObject({ threadId: first.threadId, from: `Ann <${inboxId}>`, to: [to] })
      expect(copy.labels).toEqual(expect.arrayContaining(['sent', 'campaign']))
      await waitFor(
        async () =>
          (await system.tenant.client.inboxes.messages.get(inboxId, first.messageId)).labels.includes('delivered'),
        {
          what: 'the delivery to be known',
        },
      )
      expect(system.peer.server.mailsTo(to)).toHaveLength(1)
    })

    it('replies and replies to all within the thread', async () => {
      const { inboxId, message } = await inboxWithMail(system, { subject: 'Talk' })
      const reply = await system.tenant.client.inboxes.messages.reply(inboxId, message.messageId, { text: 'Fine.' })
      expect(reply.threadId).toBe(message.threadId)
      const arrived = await system.peer.server.next(system.peer.address(), {
        matches: (mail) => mail.parsed.messageId === reply.messageId,
      })
      expect(arrived.parsed).toMatchObject({ subject: 'Re: Talk', inReplyTo: message.messageId })
      const toAll = await system.tenant.client.inboxes.messages.replyAll(inboxId, message.messageId, {
        html: '<p>All</p>',
      })
      expect(toAll.threadId).toBe(message.threadId)
    })

    it('attaches content and files from a URL', async () => {
      const { inboxId } = await system.tenant.client.inboxes.create({})
      const to = system.peer.address(newUsername())
      await system.tenant.client.inboxes.messages.send(inboxId, {
        to: [to],
        subject: 'Files',
        text: 'Two',
        attachments: [
          { filename: 'a.txt', content: Buffer.from('one').toString('base64') },
          { filename: 'b.json', url: `${system.endpoints.gatewayUrl}/openapi.json`, contentType: 'application/json' },
        ],
      })
      const { parsed } = await system.peer.server.next(to)
      expect(parsed.attachments.map(({ filename }) => filename)).toEqual(['a.txt', 'b.json'])
      expect(parsed.attachments[0]?.content.toString()).toBe('one')
      expect(JSON.parse(parsed.attachments[1]?.content.toString() ?? '')).toHaveProperty('openapi')
    })
  })

  describe('threads', () => {
    it('are listed and read in the scope of organization, pod and inbox', async () => {
      const { inboxId, message } = await inboxWithMail(system, { subject: 'Thread of three scopes' })
      const { threadId } = message
      await system.tenant.client.inboxes.messages.reply(inboxId, message.messageId, { text: 'Indeed' })
      const query = { subject: ['three scopes'], limit: 10 }
      const lists = [
        await system.tenant.client.threads.list(query),
        await system.tenant.client.pods.threads.list(system.tenant.id, query),
        await system.tenant.client.inboxes.threads.list(inboxId, query),
      ]
      for (const { threads } of lists) expect(threads).toMatchObject([{ threadId, inboxId, messageCount: 2 }])
      const threads = [
        await system.tenant.client.threads.get(threadId),
        await system.tenant.client.pods.threads.get(system.tenant.id, threadId),
        await system.tenant.client.inboxes.threads.get(inboxId, threadId),
      ]
      for (const thread of threads) {
        expect(thread.messages.map(({ labels }) => labels[0])).toEqual(['received', 'sent'])
        expect(thread.messages[0]?.timestamp).toBeInstanceOf(Date)
      }
    })

    it('are filtered in each scope by senders and recipients of which every value matches, in any case', async () => {
      const { client, id } = system.tenant
      const { inboxId, message } = await inboxWithMail(system, { subject: 'Both sides' })
      const { threadId } = message
      await client.inboxes.messages.reply(inboxId, message.messageId, { text: 'Indeed' })
      const scopes = [
        (query: AgentMail.ListThreadsRequest) => client.threads.list(query),
        (query: AgentMail.ListThreadsRequest) => client.pods.threads.list(id, query),
        (query: AgentMail.ListThreadsRequest) => client.inboxes.threads.list(inboxId, query),
      ]
      const [human, inbox] = [system.peer.address().toUpperCase(), inboxId.toUpperCase()]
      for (const list of scopes) {
        for (const field of ['senders', 'recipients'] as const) {
          expect((await list({ [field]: [human, inbox] })).threads).toMatchObject([{ threadId }])
          for (const value of [human, inbox]) expect((await list({ [field]: [value, 'nowhere'] })).count).toBe(0)
        }
      }
    })

    it('are labelled and deleted in each scope, and link to attachments', async () => {
      const { client } = system.tenant
      const { inboxId } = await client.inboxes.create({})
      const attachments = [{ filename: 'a.txt', content: 'the file' }]
      await system.peer.send({ to: inboxId, subject: 'To be deleted', text: 'See file', attachments })
      const { threadId } = await waitFor(async () => (await client.inboxes.threads.list(inboxId)).threads[0], {
        what: 'the mail',
      })
      const change = { addLabels: ['done'], removeLabels: ['unread'] }
      const changed = [
        await client.threads.update(threadId, change),
        await client.pods.threads.update(system.tenant.id, threadId, change),
        await client.inboxes.threads.update(inboxId, threadId, change),
      ]
      for (const one of changed) expect(one).toEqual({ threadId, labels: ['received', 'done'] })
      const [attachment] = (await client.threads.get(threadId)).attachments ?? []
      const { attachmentId } = attachment ?? { attachmentId: '' }
      const links = [
        await client.threads.getAttachment(threadId, attachmentId),
        await client.pods.threads.getAttachment(system.tenant.id, threadId, attachmentId),
        await client.inboxes.threads.getAttachment(inboxId, threadId, attachmentId),
      ]
      for (const { downloadUrl } of links) expect(await (await fetch(downloadUrl)).text()).toBe('the file')
      await client.threads.delete(threadId)
      await expect(client.inboxes.threads.get(inboxId, threadId)).rejects.toBeInstanceOf(AgentMail.NotFoundError)
      expect((await client.inboxes.messages.list(inboxId)).count).toBe(0)
    })
  })
})
