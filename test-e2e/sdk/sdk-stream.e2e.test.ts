import { waitFor } from '@restante/testkit'
import type { AgentMail } from 'agentmail'
import { mailTo, SPAM_TEXT } from '../support/mail.ts'
import { secretOf } from '../support/sdk.ts'
import { useSystem } from '../support/suite.ts'
import { clientOf, newUsername } from '../support/tenants.ts'

/** A value that the socket of the client passes to its listeners. */
type Frame =
  | AgentMail.Subscribed
  | AgentMail.MessageReceivedEvent
  | AgentMail.MessageSentEvent
  | AgentMail.MessageDeliveredEvent
  | AgentMail.MessageBouncedEvent
  | AgentMail.MessageComplainedEvent
  | AgentMail.MessageRejectedEvent
  | AgentMail.MessageOpenedEvent
  | AgentMail.DomainVerifiedEvent
  | AgentMail.Error_

describe('the socket of the public client', () => {
  const system = useSystem()

  /** Opens a socket and records what it passes to listeners, in order. */
  async function open(client = system.tenant.client) {
    const socket = await client.websockets.connect()
    const frames: Frame[] = []
    socket.on('message', (frame) => frames.push(frame))
    /** The answers to what the socket sent, without the events between them, as soon as there are `count`. */
    const answered = (count: number) =>
      waitFor(
        () => {
          const answers = frames.filter(({ type }) => type !== 'event')
          return answers.length === count && answers
        },
        { what: `${count} answers` },
      )
    const event = (eventType: string) =>
      waitFor(() => frames.find((frame) => 'eventType' in frame && frame.eventType === eventType), {
        what: `${eventType} on the socket`,
      })
    return { socket, frames, answered, event }
  }

  it('delivers received and sent mail as typed events', async () => {
    const { inboxId } = await system.tenant.client.inboxes.create({})
    const { socket, answered, event } = await open()
    const eventTypes: AgentMail.EventTypes = ['message.received', 'message.sent', 'message.delivered']
    socket.sendSubscribe({ type: 'subscribe', inboxIds: [inboxId], eventTypes })
    await answered(1)
    await system.peer.send({ to: inboxId, subject: 'Ping', text: 'Are you there?' })
    expect(await event('message.received')).toMatchObject({
      eventId: expect.any(String),
      message: { inboxId, subject: 'Ping', extractedText: 'Are you there?', createdAt: expect.any(Date) },
      thread: { messageCount: 1, lastMessageId: expect.stringMatching(/^<.*>$/) },
    })
    const to = system.peer.address()
    const { messageId } = await system.tenant.client.inboxes.messages.send(inboxId, {
      to,
      subject: 'Pong',
      text: 'Yes',
    })
    const known = { messageId, inboxId, recipients: [to], timestamp: expect.any(Date) }
    expect(await event('message.sent')).toMatchObject({ send: known })
    expect(await event('message.delivered')).toMatchObject({ delivery: known })
    socket.close()
  })

  it('delivers bounces as typed events, and spam only to the socket that names it', async () => {
    const { inboxId } = await system.tenant.client.inboxes.create({})
    const { socket, frames, answered, event } = await open()
    socket.sendSubscribe({ type: 'subscribe', inboxIds: [inboxId] })
    await answered(1)
    const naming = await open()
    naming.socket.sendSubscribe({ type: 'subscribe', eventTypes: ['message.received.spam'], inboxIds: [inboxId] })
    await naming.answered(1)
    const { messageId } = await mailTo(system, inboxId, { text: SPAM_TEXT })
    expect(await naming.event('message.received.spam')).toMatchObject({ message: { messageId, inboxId } })
    naming.socket.close()
    const to = system.peer.address(newUsername('gone'))
    system.peer.server.answerRecipient(to, '550 5.1.1 no such mailbox')
    await system.tenant.client.inboxes.messages.send(inboxId, { to, subject: 'Hello', text: 'Anybody?' })
    expect(await event('message.bounced')).toMatchObject({
      bounce: { type: 'Permanent', subType: 'NoEmail', recipients: [{ address: to, status: 'bounced' }] },
    })
    expect(frames.map((frame) => 'eventType' in frame && frame.eventType)).not.toContain('message.received.spam')
    socket.close()
  })

  it('gets an error frame for a scope that its key may not see, and stays open', async () => {
    const key = secretOf(await system.tenant.client.apiKeys.create({ permissions: { messageRead: true } }))
    const { socket, answered } = await open(clientOf(system.endpoints, key))
    socket.sendSubscribe({ type: 'subscribe', eventTypes: ['message.received.spam'] })
    socket.sendSubscribe({ type: 'subscribe' })
    expect(await answered(2)).toMatchObject([
      { type: 'error', message: 'label_spam_read is forbidden' },
      { type: 'subscribed' },
    ])
    socket.close()
  })

  it('is refused with a wrong key', async () => {
    const connected = clientOf(system.endpoints, `am_us_${'0'.repeat(64)}`).websockets.connect()
    await expect(connected).rejects.toMatchObject({ message: expect.stringContaining('403') })
  })
})
