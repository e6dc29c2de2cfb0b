import { operate, waitFor } from '@restante/testkit'
import { AgentMail } from 'agentmail'
import { arrival, inboxWithMail } from '../support/mail.ts'
import { deliveryReport } from '../support/reports.ts'
import { eventAbout, eventsAbout, openStream, typesAbout } from '../support/streams.ts'
import { useSystem } from '../support/suite.ts'
import { createTenant, newUsername } from '../support/tenants.ts'

describe('outgoing mail', () => {
  const system = useSystem()
  const messages = () => system.tenant.client.inboxes.messages
  const newInbox = async (displayName?: string) =>
    (await system.tenant.client.inboxes.create(displayName === undefined ? {} : { displayName })).inboxId
  const address = (prefix?: string) => system.peer.address(newUsername(prefix))
  const labelsOf = async (inboxId: string, messageId: string) => (await messages().get(inboxId, messageId)).labels

  const listen = (inboxId: string) => openStream(system.endpoints, system.tenant.key, { inbox_ids: [inboxId] })

  describe('a sent mail', () => {
    it('arrives with its headers, encrypted, and without a trace of the blind copies', async () => {
      const inboxId = await newInbox('Ann, Agent')
      const [to, cc, bcc] = [address('to'), address('cc'), address('bcc')]
      const { messageId } = await messages().send(inboxId, {
        to: `Bo Ö <${to}>`,
        cc: [cc],
        bcc: [bcc],
        replyTo: 'desk@elsewhere.test',
        subject: 'Größe 10 €',
        text: 'Plain text',
        html: '<p>Rich text</p>',
        headers: { 'X-Campaign': 'spring', From: 'forged@elsewhere.test' },
      })
      const [mail, copy, blind] = [
        await system.peer.server.next(to),
        await system.peer.server.next(cc),
        await system.peer.server.next(bcc),
      ]
      const { parsed } = mail
      expect(mail).toMatchObject({ secure: true, mailFrom: expect.stringMatching(/^b\+.+@bounces\.restante\.test$/) })
      expect(parsed).toMatchObject({ messageId, subject: 'Größe 10 €', text: 'Plain text', html: '<p>Rich text</p>' })
      expect(parsed.from?.value).toEqual([{ name: 'Ann, Agent', address: inboxId }])
      expect(parsed.headers.get('x-campaign')).toBe('spring')
      expect(mail.raw.toString()).toMatch(/^Reply-To: desk@elsewhere\.test\r$/m)
      for (const { raw } of [mail, copy, blind]) {
        expect(raw.toString()).toContain(to)
        expect(raw.toString()).toContain(cc)
        expect(raw.toString()).not.toContain(bcc)
      }
      expect(await messages().get(inboxId, messageId)).toMatchObject({ bcc: [bcc], to: [`Bo Ö <${to}>`] })
    })

    it('has its events: sent once, then delivered with its recipients', async () => {
      const inboxId = await newInbox()
      const stream = await listen(inboxId)
      const to = [address(), address()]
      const { messageId, threadId } = await messages().send(inboxId, { to, subject: 'Two', text: 'Hello both' })
      await waitFor(async () => (await labelsOf(inboxId, messageId)).includes('delivered'), { what: 'the delivery' })
      const delivered = () =>
        eventsAbout(stream, messageId).filter((event) => event['event_type'] === 'message.delivered')
      await waitFor(() => delivered().flatMap(recipientsOf).length === 2, { what: 'both deliveries on the stream' })
      expect(delivered().flatMap(recipientsOf).sort()).toEqual(to.toSorted())
      expect(eventsAbout(stream, messageId).filter((event) => event['event_type'] === 'message.sent')).toMatchObject([
        { send: { inbox_id: inboxId, thread_id: threadId, recipients: expect.arrayContaining(to) } },
      ])
      await stream.close()
    })
  })

  describe('a reply', () => {
    it('goes to the author, in the thread, above the quoted mail', async () => {
      const { inboxId, message } = await inboxWithMail(system, { subject: 'Lunch', text: 'Today?' })
      const reply = await messages().reply(inboxId, message.messageId, { text: 'Fine by me.' })
      const { parsed } = await system.peer.server.next(system.peer.address(), {
        matches: ({ parsed }) => parsed.messageId === reply.messageId,
      })
      expect(parsed).toMatchObject({
        subject: 'Re: Lunch',
        inReplyTo: message.messageId,
        references: message.messageId,
      })
      expect(parsed.text).toMatch(/^Fine by me\.\n\nOn .+ UTC human@.+ wrote:\n\n> Today\?\n/)
      const copy = await messages().get(inboxId, reply.messageId)
      expect(copy).toMatchObject({ threadId: message.threadId, extractedText: 'Fine by me.' })
    })

    it('goes to everyone but the inbox itself when requested', async () => {
      const inboxId = await newInbox()
      const [cc, other] = [address('cc'), address('other')]
      const messageId = `<${newUsername('id')}@${system.peer.domain}>`
      await system.peer.send({
        to: [inboxId, other],
        cc,
        subject: 'All',
        text: 'Hi all',
        messageId,
        envelope: { from: system.peer.address(), to: inboxId },
      })
      await arrival(system, inboxId, messageId)
      await messages().replyAll(inboxId, messageId, { text: 'Hi' })
      const { parsed } = await system.peer.server.next(cc)
      expect(addressesIn(parsed.to)).toEqual([other, system.peer.address()])
      expect(addressesIn(parsed.cc)).toEqual([cc])
    })
  })

  describe('failures of the other server', () => {
    it('delay the mail and do not lose it after a temporary refusal', async () => {
      const inboxId = await newInbox()
      const to = address()
      system.peer.server.answerRecipient(to, '450 4.2.0 later', '451 4.3.0 later')
      const stream = await listen(inboxId)
      const delayed = Promise.withResolvers<void>()
      system.peer.server.holdData(to, delayed.promise)
      const { messageId } = await messages().send(inboxId, { to, subject: 'Patience', text: '...' })
      const has = (label: string) => async () => (await labelsOf(inboxId, messageId)).includes(label)
      await waitFor(has('delayed'), { what: 'the delay to be shown' })
      delayed.resolve()
      await waitFor(has('delivered'), { what: 'the delivery' })
      expect(await labelsOf(inboxId, messageId)).not.toContain('delayed')
      await system.peer.server.next(to)
      await eventAbout(stream, messageId, 'message.delivered')
      expect(
        eventsAbout(stream, messageId)
          .map((event) => event['event_type'])
          .sort(),
      ).toEqual(['message.delivered', 'message.sent'])
      await stream.close()
    })

    it('neither lose nor duplicate a mail whose connection breaks in the middle', async () => {
      const inboxId = await newInbox()
      const to = address()
      system.peer.server.answerData(to, 'drop')
      const { messageId } = await messages().send(inboxId, { to, subject: 'Broken', text: 'Whole' })
      await waitFor(async () => (await labelsOf(inboxId, messageId)).includes('delivered'), { what: 'the delivery' })
      expect(system.peer.server.mailsTo(to)).toHaveLength(1)
    })

    it('bounce a mail at once when the address does not exist, and suppress the next mail to it', async () => {
      const inboxId = await newInbox()
      const [gone, here] = [address('gone'), address('here')]
      system.peer.server.answerRecipient(gone, '550 5.1.1 no such mailbox')
      const stream = await listen(inboxId)
      const { messageId } = await messages().send(inboxId, { to: [gone, here], subject: 'Half', text: 'Hello' })
      expect(await eventAbout(stream, messageId, 'message.bounced')).toMatchObject({
        bounce: { type: 'Permanent', sub_type: 'NoEmail', recipients: [{ address: gone, status: 'bounced' }] },
      })
      expect(recipientsOf(await eventAbout(stream, messageId, 'message.delivered'))).toEqual([here])
      expect(await labelsOf(inboxId, messageId)).toEqual(expect.arrayContaining(['sent', 'bounced', 'delivered']))
      const again = messages().send(inboxId, { to: gone, subject: 'Again', text: 'Hello?' })
      await expect(again).rejects.toMatchObject({
        statusCode: 403,
        body: expect.objectContaining({ code: 'message_rejected', message: expect.stringContaining(gone) }),
      })
      await stream.close()
    })

    it('bounce a mail after the retry window, without suppressing the address', async () => {
      const inboxId = await newInbox()
      const to = address()
      system.peer.server.answerRecipient(to, ...Array.from({ length: 50 }, () => '450 4.2.0 later' as const))
      const stream = await listen(inboxId)
      const { messageId } = await messages().send(inboxId, { to, subject: 'Never', text: 'Hello?' })
      expect(await eventAbout(stream, messageId, 'message.bounced')).toMatchObject({
        bounce: { type: 'Transient', sub_type: 'General' },
      })
      expect(await labelsOf(inboxId, messageId)).not.toContain('delayed')
      system.peer.server.answerRecipient(to)
      await messages().send(inboxId, { to, subject: 'Now', text: 'Hello!' })
      await system.peer.server.next(to)
      await stream.close()
    })

    it('bounce the message when they are reported later by a delivery report: once, with label and list entry', async () => {
      const inboxId = await newInbox()
      const stream = await listen(inboxId)
      const send = async (to: string) => {
        const { messageId } = await messages().send(inboxId, { to, subject: 'Late', text: 'Hello?' })
        const { mailFrom } = await system.peer.server.next(to)
        await eventAbout(stream, messageId, 'message.delivered')
        const report = (returnPath = mailFrom) => {
          const failure = { reporter: system.peer.domain, returnPath, recipient: to, status: '5.1.1' }
          return system.peer.send({ envelope: { from: '', to: returnPath }, raw: deliveryReport(failure) })
        }
        return { messageId, mailFrom, report }
      }
      const to = address()
      const { messageId, mailFrom, report } = await send(to)
      const [local = '', domain = ''] = mailFrom.split('@')
      const forged = `${local.slice(0, -1)}${local.endsWith('0') ? '1' : '0'}@${domain}`
      await expect(report(forged)).rejects.toMatchObject({ responseCode: 550 })
      for (let times = 0; times < 2; times++) await report()
      expect(await eventAbout(stream, messageId, 'message.bounced')).toMatchObject({
        bounce: { type: 'Permanent', sub_type: 'NoEmail', recipients: [{ address: to, status: 'bounced' }] },
      })
      expect(await labelsOf(inboxId, messageId)).toContain('bounced')
      const entry = await system.tenant.client.lists.get('send', 'block', to)
      expect(entry).toMatchObject({ reason: 'bounced', readOnly: true })
      const later = await send(address())
      await later.report()
      await eventAbout(stream, later.messageId, 'message.bounced')
      const bounced = typesAbout(stream, messageId).filter((type) => type === 'message.bounced')
      expect(bounced).toHaveLength(1)
      await stream.close()
    })
  })

  describe('between inboxes of the installation', () => {
    it('hands a mail over internally: both sides have it, each in a thread of its own', async () => {
      const [sender, receiver] = [await newInbox('Sender'), await newInbox()]
      const stream = await openStream(system.endpoints, system.tenant.key, { inbox_ids: [sender, receiver] })
      const { messageId, threadId } = await messages().send(sender, {
        to: [receiver, sender],
        subject: 'Inside',
        text: 'Psst',
      })
      const copy = await arrival(system, receiver, messageId)
      expect(copy).toMatchObject({ from: `Sender <${sender}>`, labels: ['received', 'unread'] })
      expect(copy.threadId).not.toBe(threadId)
      await waitFor(() => eventsAbout(stream, messageId).length === 3, { what: 'three events' })
      expect(
        eventsAbout(stream, messageId)
          .map((event) => event['event_type'])
          .sort(),
      ).toEqual(['message.delivered', 'message.received', 'message.sent'])
      const reply = await messages().reply(receiver, messageId, { text: 'What?' })
      expect(await arrival(system, sender, reply.messageId)).toMatchObject({ threadId, inReplyTo: messageId })
      await stream.close()
    })
  })

  describe('is refused', () => {
    it('from a paused inbox', async () => {
      const inboxId = await newInbox()
      await system.tenant.api.patch(`/v0/inboxes/${encodeURIComponent(inboxId)}`, { status: 'paused' })
      const sent = messages().send(inboxId, { to: address(), text: 'Hello' })
      await expect(sent).rejects.toMatchObject({
        statusCode: 403,
        body: expect.objectContaining({ code: 'inbox_paused' }),
      })
    })

    it('from a suspended organization, which still reads', async () => {
      const suspended = await createTenant(system.endpoints)
      const { inboxId } = await suspended.client.inboxes.create({})
      await operate(system.endpoints.operator, 'organizations', 'suspend', suspended.id)
      const sent = suspended.client.inboxes.messages.send(inboxId, { to: address(), text: 'Hello' })
      await expect(sent).rejects.toBeInstanceOf(AgentMail.MessageRejectedError)
      expect((await suspended.client.inboxes.list()).count).toBe(1)
      await operate(system.endpoints.operator, 'organizations', 'resume', suspended.id)
      await suspended.client.inboxes.messages.send(inboxId, { to: address(), text: 'Hello' })
    })

    it('with a body above 6 MB, in the bare form', async () => {
      const inboxId = await newInbox()
      const path = `/v0/inboxes/${encodeURIComponent(inboxId)}/messages/send`
      const answer = await system.tenant.api.post(path, { to: address(), text: 'x'.repeat(6 * 1024 * 1024) })
      expect(answer).toMatchObject({ status: 413, body: { message: expect.any(String) } })
      expect(Object.keys(answer.body)).toEqual(['message'])
    })
  })
})

function recipientsOf(event: Readonly<Record<string, unknown>>): unknown[] {
  const delivery = event['delivery']
  if (typeof delivery !== 'object' || delivery === null || !('recipients' in delivery)) return []
  return Array.isArray(delivery.recipients) ? delivery.recipients : []
}

function addressesIn(
  field: { value: { address?: string | undefined }[] } | { value: { address?: string | undefined }[] }[] | undefined,
): unknown[] {
  return [field ?? []].flat().flatMap(({ value }) => value.map(({ address }) => address))
}
