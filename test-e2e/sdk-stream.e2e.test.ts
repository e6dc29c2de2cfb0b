import { waitFor } from '@restante/testkit'
import type { AgentMail } from 'agentmail'
import { secretOf } from './support/sdk.ts'
import { useSystem } from './support/suite.ts'
import { clientOf } from './support/tenants.ts'

/** What the socket of the client hands to its listeners. */
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

  describe('the socket', () => {
    it('delivers typed events after a subscription', async () => {
      const { inboxId } = await system.tenant.client.inboxes.create({})
      const socket = await system.tenant.client.websockets.connect()
      const frames: Frame[] = []
      socket.on('message', (frame) => frames.push(frame))
      await socket.waitForOpen()
      socket.sendSubscribe({
        type: 'subscribe',
        inboxIds: [inboxId],
        eventTypes: ['message.received', 'message.sent', 'message.delivered'],
      })
      await waitFor(() => frames.find((frame) => frame.type === 'subscribed'), { what: 'the subscription' })
      await system.peer.send({ to: inboxId, subject: 'Ping', text: 'Are you there?' })
      const received = await waitFor(
        () => frames.find((frame) => frame.type === 'event' && frame.eventType === 'message.received'),
        {
          what: 'message.received on the socket',
        },
      )
      expect(received).toMatchObject({
        eventId: expect.any(String),
        message: { inboxId, subject: 'Ping', extractedText: 'Are you there?', createdAt: expect.any(Date) },
        thread: { messageCount: 1, lastMessageId: expect.stringMatching(/^<.*>$/) },
      })
      const { messageId } = await system.tenant.client.inboxes.messages.send(inboxId, {
        to: system.peer.address(),
        subject: 'Pong',
        text: 'Yes',
      })
      for (const [eventType, member] of [
        ['message.sent', 'send'],
        ['message.delivered', 'delivery'],
      ] as const) {
        const event = await waitFor(
          () => frames.find((frame) => 'eventType' in frame && frame.eventType === eventType),
          { what: eventType },
        )
        expect(event).toMatchObject({
          [member]: { messageId, inboxId, recipients: [system.peer.address()], timestamp: expect.any(Date) },
        })
      }
      socket.close()
    })

    it('gets an error frame for what its key may not see, and goes on', async () => {
      const key = secretOf(await system.tenant.client.apiKeys.create({ permissions: { messageRead: true } }))
      const socket = await clientOf(system.place, key).websockets.connect()
      const frames: Frame[] = []
      socket.on('message', (frame) => frames.push(frame))
      await socket.waitForOpen()
      socket.sendSubscribe({ type: 'subscribe', eventTypes: ['message.received.spam'] })
      socket.sendSubscribe({ type: 'subscribe' })
      await waitFor(() => frames.length === 2, { what: 'two answers' })
      expect(frames).toMatchObject([{ type: 'error', message: 'label_spam_read is forbidden' }, { type: 'subscribed' }])
      socket.close()
    })

    it('is refused with a wrong key', async () => {
      const connected = clientOf(system.place, `am_us_${'0'.repeat(64)}`).websockets.connect()
      await expect(connected).rejects.toMatchObject({ message: expect.stringContaining('403') })
    })
  })
})
