import { randomUUID } from 'node:crypto'
import { waitFor } from '@restante/testkit'
import { factOf, factsAbout, inboxCaller, startWorld, type World } from './support/world.ts'

describe('a send', () => {
  let world: World

  beforeAll(async () => {
    world = await startWorld()
  }, 60_000)
  afterAll(() => world.stop(), 30_000)

  it('reaches the outside world, and its facts reach Kafka in order', async () => {
    const caller = inboxCaller()
    const to = `ann-${randomUUID().slice(0, 6)}@outside.example`
    const answer = await world.call('messages.send', caller, {
      path: '/messages/send',
      body: { to, subject: 'Hello', text: 'How are you?' },
    })
    expect(answer).toMatchObject({ status: 200 })
    const mail = await world.outside.next(to)
    expect(mail.parsed.subject).toBe('Hello')
    expect(mail.parsed.messageId).toBe(answer.body['message_id'])
    expect(mail.parsed.from?.text).toContain(caller.inbox.address)
    expect(mail.mailFrom).toMatch(/^b\+[0-9a-f]{52}@bounces\.restante\.test$/)
    expect(mail.secure).toBe(true)
    await factOf(world, answer.body['message_id'], 'delivery.delivered')
    expect(factsAbout(world, answer.body['message_id']).map(({ type }) => type)).toEqual([
      'message.accepted',
      'delivery.handed_over',
      'delivery.delivered',
    ])
    await waitFor(() => world.peers.requests('mail-ingest.placeSent').length > 0, { what: 'the copy to be placed' })
  })
})
