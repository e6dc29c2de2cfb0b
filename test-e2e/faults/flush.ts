import { byLength, waitFor } from '@restante/testkit'
import { Redis } from 'ioredis'
import { letTimePass } from '../support/time.ts'
import type { Installation } from './harness/installation.ts'

const MAILS = byLength({ short: 30, long: 60 })
const RATE = 50

/** The promises of an installation whose Redis is flushed. */
export function describeFlush(installationOf: () => Installation): void {
  it('completes all work that was scheduled or in progress when its Redis is flushed', async () => {
    const installation = installationOf()
    const { source, receiver, peer, system } = installation
    const redis = new Redis(installation.engines.resources.urls.REDIS_URL)
    try {
      // Webhooks and mails that have failed once are due again later; some are refused again until then.
      receiver.always(503)
      const human = peer.address()
      peer.server.answerRecipient(human, ...Array<'451 4.7.1 Not now'>(200).fill('451 4.7.1 Not now'))
      const attemptsBefore = receiver.requests.length
      const deferredBefore = peer.server.attempts.length
      const agent = installation.startAgent()
      const sending = source.send(MAILS, RATE)
      const attempts = () => receiver.requests.length - attemptsBefore
      for (const share of [0.3, 0.6, 1]) {
        await waitFor(() => attempts() >= MAILS * share, { what: 'webhooks to fail' })
        await redis.flushall()
      }
      await sending
      await waitFor(() => peer.server.attempts.length > deferredBefore, { what: 'a reply to be deferred' })
      await agent.stop()
      await redis.flushall()
      receiver.always(200)
      peer.server.answerRecipient(human)
      // Work that has failed twice would wait for minutes.
      await letTimePass(system.endpoints, 'webhooks-dispatcher')
      expect(agent.replies.length).toBeGreaterThan(0)
      await installation.expectEverything()
    } finally {
      redis.disconnect()
    }
  }, 600_000)
}
