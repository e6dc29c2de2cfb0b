import { waitFor } from '@restante/testkit'
import { Redis } from 'ioredis'
import { letTimePass } from '../support/time.ts'
import { describeFaults, INSTALLATION_TIMEOUT, Installation } from './installation.ts'

const MAILS = 60

describeFaults('an installation whose Redis is flushed', () => {
  let installation: Installation
  let redis: Redis
  beforeAll(async () => {
    installation = await Installation.start({ name: 'flush', rate: 50 })
    redis = new Redis(installation.engines.ground.urls.REDIS_URL)
  }, INSTALLATION_TIMEOUT)
  afterAll(async () => {
    redis?.disconnect()
    await installation?.stop()
  }, INSTALLATION_TIMEOUT)

  it('does all that waited for its time, and all that was under way', async () => {
    const { source, receiver, peer, system } = installation
    // Webhooks and mails that have failed once are due again in a while; some are refused again meanwhile.
    receiver.always(503)
    const human = peer.address()
    peer.server.answerRecipient(human, ...Array<'451 4.7.1 Not now'>(200).fill('451 4.7.1 Not now'))
    const agent = installation.startAgent()
    const sending = source.send(MAILS)
    const attempts = () => receiver.requests.length
    for (const share of [0.3, 0.6, 1]) {
      await waitFor(() => attempts() >= MAILS * share, { what: 'webhooks to fail', timeout: 30_000 })
      await redis.flushall()
    }
    await sending
    await waitFor(() => peer.server.attempts.length > 0, { what: 'a reply to be deferred' })
    await agent.stop()
    await redis.flushall()
    receiver.always(200)
    peer.server.answerRecipient(human)
    // What has failed twice would wait for minutes.
    await letTimePass(system.place, 'webhooks-dispatcher')
    await installation.settle()
    expect(await installation.count()).toEqual(installation.expected(MAILS))
    expect(agent.replies.length).toBeGreaterThan(0)
    expect(await installation.countReplies()).toEqual(installation.expectedReplies())
  }, 180_000)
})
