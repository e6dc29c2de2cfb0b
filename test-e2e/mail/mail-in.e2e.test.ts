import { leastOf, SmtpSession, sendMail, underLoad, verifyWebhook, WebhookReceiver, waitFor } from '@restante/testkit'
import { STRICT_DOMAIN } from '../stack/names.ts'
import { arrival } from '../support/mail.ts'
import { eventAbout, openStream } from '../support/streams.ts'
import { useSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'

describe('incoming mail', () => {
  const system = useSystem()
  const newInbox = async () => (await system.tenant.client.inboxes.create({})).inboxId
  const newId = () => `<${newUsername('id')}@${system.peer.domain}>`
  const labelled = (inboxId: string, include: object = {}) =>
    system.tenant.client.inboxes.messages.list(inboxId, { ascending: true, ...include })

  /** Sends a mail with a Message-ID of its own, and returns that id. */
  async function send(mail: Parameters<typeof system.peer.send>[0]): Promise<string> {
    const messageId = newId()
    await system.peer.send({ subject: 'Mail', text: 'Text', messageId, ...mail })
    return messageId
  }

  it('of a sender on a block list is stored as blocked, until the entry is deleted', async () => {
    const { client } = system.tenant
    const inboxId = await newInbox()
    const from = system.peer.address(newUsername())
    const isBlocked = async () => {
      const messageId = await send({ to: inboxId, from })
      const read = () => client.inboxes.messages.get(inboxId, messageId).catch(() => undefined)
      const { labels } = await waitFor(read, { what: 'the mail to be stored' })
      return labels.includes('blocked')
    }
    // An entry holds for mail that is stored after its event arrived.
    await client.inboxes.lists.create(inboxId, 'receive', 'block', { entry: from })
    await waitFor(isBlocked, { what: 'mail to be blocked' })
    await client.inboxes.lists.delete(inboxId, 'receive', 'block', from)
    // The owner confirms what blocks a mail, so nothing has to arrive first.
    expect(await isBlocked()).toBe(false)
  })

  describe('at SMTP', () => {
    it('refuses a recipient that does not exist with 550', async () => {
      const session = await SmtpSession.open(system.endpoints.smtpPort)
      const reply = await session.envelope('human@elsewhere.test', `nobody@${system.endpoints.domain}`)
      expect(reply).toMatchObject({ code: 550, text: expect.stringMatching(/^5\.1\.1 /) })
      expect(await session.command('RCPT TO:<human@elsewhere.test>')).toMatchObject({ code: 550 })
      await session.quit()
    })

    it('refuses a mail that announces more than 40 MB with 552', async () => {
      const session = await SmtpSession.open(system.endpoints.smtpPort)
      await session.command('EHLO client.test')
      const reply = await session.command(`MAIL FROM:<human@elsewhere.test> SIZE=${40 * 1024 * 1024 + 1}`)
      expect(reply).toMatchObject({ code: 552, text: expect.stringMatching(/^5\.3\.4 /) })
      await session.quit()
    })

    it('refuses a mail that turns out larger than 40 MB with 552, and stores nothing of it', async () => {
      const inboxId = await newInbox()
      const text = `${'x'.repeat(998)}\r\n`.repeat(42_500)
      const oversized = system.peer.send({ to: inboxId, raw: `Subject: large\r\n\r\n${text}` })
      await expect(oversized).rejects.toMatchObject({ responseCode: 552 })
      const messageId = await send({ to: inboxId })
      await arrival(system, inboxId, messageId)
      expect(await labelled(inboxId)).toMatchObject({ count: 1 })
    })

    it('accepts mail for a plus address, and for several inboxes, a copy each', async () => {
      const [first, second] = [await newInbox(), await newInbox()]
      const messageId = await send({ to: [first.replace('@', '+shop@'), second] })
      expect(await arrival(system, first, messageId)).toMatchObject({ inboxId: first })
      expect(await arrival(system, second, messageId)).toMatchObject({ inboxId: second })
    })

    it('drops mail for a paused inbox permanently, without an event', async () => {
      const inboxId = await newInbox()
      const path = `/v0/inboxes/${encodeURIComponent(inboxId)}`
      const stream = await openStream(system.endpoints, system.tenant.key, { inbox_ids: [inboxId] })
      await system.tenant.api.patch(path, { status: 'paused' })
      await send({ to: inboxId, subject: 'Swallowed' })
      await system.tenant.api.patch(path, { status: 'active' })
      const messageId = await send({ to: inboxId, subject: 'Kept' })
      await stream.next((event) => JSON.stringify(event).includes(messageId), { what: 'the event of the kept mail' })
      expect(stream.events).toHaveLength(1)
      expect((await labelled(inboxId)).messages.map(({ subject }) => subject)).toEqual(['Kept'])
      await stream.close()
    })

    it('stores one copy when the same mail arrives twice, and both when only the id is the same', async () => {
      const inboxId = await newInbox()
      const messageId = newId()
      for (const text of ['Same', 'Same', 'Other']) await send({ to: inboxId, messageId, text })
      const last = await send({ to: inboxId, text: 'Last' })
      await arrival(system, inboxId, last)
      const { messages } = await labelled(inboxId)
      expect(messages.map(({ preview }) => preview?.trim())).toEqual(['Same', 'Other', 'Last'])
      expect(messages[1]?.messageId).not.toBe(messageId)
    })
  })

  describe('the event', () => {
    it('is the same document on webhook and stream, and its message can be read at once', async () => {
      const inboxId = await newInbox()
      const receiver = await new WebhookReceiver().start()
      const { secret } = await system.tenant.client.webhooks.create({
        url: receiver.url,
        eventTypes: ['message.received'],
        inboxIds: [inboxId],
      })
      const stream = await openStream(system.endpoints, system.tenant.key, { inbox_ids: [inboxId] })
      const messageId = await send({ to: `Desk <${inboxId}>`, subject: 'Order 1182', text: 'Where is it?' })
      const event = await stream.next(() => true, { what: 'the event on the stream' })
      const read = await system.tenant.client.inboxes.messages.get(inboxId, messageId)
      const request = await receiver.next(() => true, { what: 'the event at the webhook' })
      expect(verifyWebhook(secret, request)).toEqual(event)
      expect(event).toMatchObject({
        event_type: 'message.received',
        message: {
          message_id: messageId,
          thread_id: read.threadId,
          labels: ['received', 'unread'],
          from: system.peer.address(),
          from_: system.peer.address(),
          to: [`Desk <${inboxId}>`],
          extracted_text: 'Where is it?',
        },
        thread: { thread_id: read.threadId, message_count: 1, last_message_id: messageId },
      })
      await stream.close()
      await receiver.stop()
    })

    it('arrives within two seconds of the 250', async () => {
      const inboxId = await newInbox()
      const stream = await openStream(system.endpoints, system.tenant.key, { inbox_ids: [inboxId] })
      const limit = underLoad(2_000)
      const arrived = await leastOf(limit, async () => {
        const id = await send({ to: inboxId })
        const accepted = performance.now()
        await eventAbout(stream, id, 'message.received')
        return performance.now() - accepted
      })
      expect(arrived).toBeLessThan(limit)
      await stream.close()
    })
  })

  describe('threading', () => {
    it('follows In-Reply-To and References, never the subject', async () => {
      const inboxId = await newInbox()
      const first = await send({ to: inboxId, subject: 'Lunch' })
      const { threadId } = await arrival(system, inboxId, first)
      const answer = await send({ to: inboxId, subject: 'Other words', inReplyTo: first })
      const later = await send({ to: inboxId, subject: 'Re: Lunch', references: [first, '<unknown@elsewhere.test>'] })
      const stranger = await send({ to: inboxId, subject: 'Re: Lunch' })
      expect((await arrival(system, inboxId, answer)).threadId).toBe(threadId)
      expect((await arrival(system, inboxId, later)).threadId).toBe(threadId)
      expect((await arrival(system, inboxId, stranger)).threadId).not.toBe(threadId)
      const thread = await system.tenant.client.threads.get(threadId)
      expect(thread).toMatchObject({ subject: 'Lunch', messageCount: 3, lastMessageId: later })
    })

    it('joins an answer to the sent message', async () => {
      const inboxId = await newInbox()
      const sent = await system.tenant.client.inboxes.messages.send(inboxId, {
        to: system.peer.address(),
        subject: 'Offer',
        text: 'Ten?',
      })
      const answer = await send({ to: inboxId, subject: 'Re: Offer', inReplyTo: sent.messageId })
      expect((await arrival(system, inboxId, answer)).threadId).toBe(sent.threadId)
    })
  })

  it('separates the text of a reply from its quote, in text and HTML', async () => {
    const inboxId = await newInbox()
    const messageId = await send({
      to: inboxId,
      text: 'Fine by me.\n\nOn Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:\n> Lunch?\n',
      html: '<p>Fine by me.</p><div class="gmail_quote">On Tue Bo wrote:<blockquote>Lunch?</blockquote></div>',
    })
    const message = await arrival(system, inboxId, messageId)
    expect(message.extractedText).toBe('Fine by me.')
    expect(message.extractedHtml).toBe('<p>Fine by me.</p>')
    expect(message.text).toContain('> Lunch?')
    expect(message.html).toContain('<blockquote>Lunch?</blockquote>')
  })

  describe('sender authentication', () => {
    it('labels unauthenticated mail, and keeps it out of the ordinary list and event', async () => {
      const inboxId = await newInbox()
      const stream = await openStream(system.endpoints, system.tenant.key, {
        inbox_ids: [inboxId],
        event_types: ['message.received.unauthenticated'],
      })
      await sendMail({
        port: system.endpoints.smtpPort,
        from: 'who@anywhere.test',
        to: inboxId,
        subject: '?',
        text: '?',
      })
      const event = await stream.next(() => true, { what: 'the event of the unauthenticated mail' })
      expect(event).toMatchObject({
        event_type: 'message.received.unauthenticated',
        message: { labels: ['received', 'unread', 'unauthenticated'] },
      })
      expect(await labelled(inboxId)).toMatchObject({ count: 0 })
      expect(await labelled(inboxId, { includeUnauthenticated: true })).toMatchObject({ count: 1 })
      await stream.close()
    })

    it("discards failing mail when the sender's domain requests that", async () => {
      const inboxId = await newInbox()
      await sendMail({
        port: system.endpoints.smtpPort,
        from: `boss@${STRICT_DOMAIN}`,
        to: inboxId,
        subject: 'Pay',
        text: '!',
      })
      const messageId = await send({ to: inboxId })
      await arrival(system, inboxId, messageId)
      expect(await labelled(inboxId, { includeUnauthenticated: true })).toMatchObject({ count: 1 })
    })
  })

  it('keeps 8-bit, international and broken mail readable', async () => {
    const inboxId = await newInbox()
    await system.peer.send({
      to: inboxId,
      raw: Buffer.concat([
        Buffer.from(
          `From: ${system.peer.address()}\r\nSubject: =?iso-8859-1?Q?=FCber?=\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n`,
        ),
        Buffer.from('Sch\u00f6n', 'latin1'),
      ]),
    })
    const message = await waitFor(async () => (await labelled(inboxId)).messages[0], { what: 'the mail' })
    expect(message).toMatchObject({ subject: 'über', preview: expect.stringMatching(/^Schön\s*$/) })
    expect(message.messageId).toMatch(/^<.+@.+>$/)
  })
})
