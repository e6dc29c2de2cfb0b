import { setTimeout as sleep } from 'node:timers/promises'
import { SmtpSession, waitFor } from '@restante/testkit'
import type { Correspondent } from './correspondent.ts'
import { storedIn } from './counts.ts'
import { describeFaults, INSTALLATION_TIMEOUT, Installation } from './installation.ts'

const OUTAGE_MS = 60_000
const RATE = 5
const DURING = (RATE * OUTAGE_MS) / 1_000
const TEST_TIMEOUT = 240_000

describeFaults('an installation of which one engine is away for a minute', () => {
  let installation: Installation
  let agent: Correspondent
  beforeAll(async () => {
    installation = await Installation.start({ name: 'outages', rate: RATE })
  }, INSTALLATION_TIMEOUT)
  afterAll(() => installation?.stop(), INSTALLATION_TIMEOUT)
  beforeEach(async () => {
    const { source, stream } = installation
    await waitFor(() => stream.subscribed, { what: 'the stream', timeout: 30_000 })
    await source.send(RATE)
    agent = installation.startAgent()
  })

  /** What came in since the installation began, and what this test's agent sent, has all got where it belongs. */
  async function expectEverything(): Promise<void> {
    await installation.settle()
    expect(await installation.count()).toEqual(installation.expected(installation.source.accepted.length))
    expect(await installation.countReplies()).toEqual(installation.expectedReplies())
  }

  /** Neither the mail server outside nor the agent had to try anything again. */
  function expectNobodyNoticed(): void {
    expect(installation.source.accepted.flatMap(({ setbacks }) => setbacks)).toEqual([])
    expect(agent.setbacks).toEqual([])
    expect(agent.replies.length).toBeGreaterThan(10)
  }

  it(
    'takes mail in and shows it without Redis, and makes up for the rest by itself',
    async () => {
      const { source, inboxes, tenant } = installation
      await installation.engines.kill('redis')
      await source.send(DURING)
      const stored = async () => (await Promise.all(inboxes.map((inbox) => storedIn(tenant, inbox)))).flat()
      await waitFor(async () => (await stored()).length === source.accepted.length, {
        what: 'every mail to be readable while Redis is away',
        timeout: 30_000,
        interval: 500,
      })
      await agent.stop()
      expectNobodyNoticed()
      await installation.engines.restart('redis')
      await expectEverything()
    },
    TEST_TIMEOUT,
  )

  it(
    'accepts mail and requests without Kafka, and catches up by itself',
    async () => {
      const { source, stream } = installation
      const { connections } = stream
      await installation.engines.kill('kafka')
      await source.send(DURING)
      await agent.stop()
      expectNobodyNoticed()
      await installation.engines.restart('kafka')
      await expectEverything()
      // The stream stayed open, so it misses nothing.
      const told = () => installation.toldByStream()
      await waitFor(() => source.accepted.every(({ id }) => told().has(id)), {
        what: 'the stream to catch up',
        timeout: 30_000,
        interval: 200,
      })
      expect(stream.connections).toBe(connections)
    },
    TEST_TIMEOUT,
  )

  it(
    'answers 451 and 503 without PostgreSQL, loses nothing and goes on by itself',
    async () => {
      const { source, inboxes, peer, system, tenant } = installation
      // Under way when it happens: mail in the pipeline, replies going out, webhooks being told.
      const sending = source.send(RATE * 4)
      sending.catch(() => undefined)
      const session = await SmtpSession.open(system.place.smtpPort, { localAddress: peer.server.host })
      await installation.engines.kill('postgres')
      const away = sleep(OUTAGE_MS)
      const [inbox = ''] = inboxes
      expect(await session.envelope(peer.address(), inbox)).toMatchObject({ code: 451 })
      await session.quit()
      const asked = await tenant.api.get(`/v0/inboxes/${inbox}/messages`)
      expect(asked.status).toBe(503)
      expect(asked.headers.get('retry-after')).toMatch(/^\d+$/)
      await away
      await installation.engines.restart('postgres')
      await sending
      await agent.stop()
      await source.send(RATE)
      await expectEverything()
    },
    TEST_TIMEOUT,
  )
})
