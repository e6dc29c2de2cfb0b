import { setTimeout as sleep } from 'node:timers/promises'
import { byLength, SmtpSession, waitFor } from '@restante/testkit'
import type { Correspondent } from './harness/correspondent.ts'
import { storedIn } from './harness/counts.ts'
import type { Installation } from './harness/installation.ts'
import { bothInAuditLog, signInTwice } from './sign-in.ts'

/** Longer than clients and pools wait for a connection. */
const OUTAGE_MS = byLength({ short: 6_000, long: 60_000 })
const RATE = 5
const DURING = (RATE * OUTAGE_MS) / 1_000
const TEST_TIMEOUT = 240_000

/** The promises of an installation while an engine is down. */
export function describeOutages(installationOf: () => Installation): void {
  let installation: Installation
  let agent: Correspondent
  /** Mails that had been accepted when the test began. */
  let before: number
  beforeEach(async () => {
    installation = installationOf()
    const { source, stream } = installation
    before = source.accepted.length
    await waitFor(() => stream.subscribed, { what: 'the stream' })
    await source.send(RATE, RATE)
    agent = installation.startAgent()
  })

  /** Expects that the agent goes on, and that neither it nor the external mail server had to retry anything. */
  async function expectNobodyNotices(): Promise<void> {
    const wanted = OUTAGE_MS / 6_000
    await waitFor(() => agent.replies.length > wanted, { what: `more than ${wanted} replies of the agent` })
    await agent.stop()
    expect(installation.source.accepted.slice(before).flatMap(({ setbacks }) => setbacks)).toEqual([])
    expect(agent.setbacks).toEqual([])
  }

  it(
    'takes mail in and shows it without Redis, and makes up for the rest by itself',
    async () => {
      const { source, inboxes, tenant } = installation
      await installation.engines.kill('redis')
      await source.send(DURING, RATE)
      const stored = async () => (await Promise.all(inboxes.map((inbox) => storedIn(tenant, inbox)))).flat()
      await waitFor(async () => (await stored()).length === source.accepted.length, {
        what: 'every mail to be readable while Redis is away',
        interval: 500,
      })
      await expectNobodyNotices()
      await installation.engines.restart('redis')
      await installation.expectEverything()
    },
    TEST_TIMEOUT,
  )

  it(
    'accepts mail and requests without Kafka, signs inboxes in without Redis too, and catches up by itself',
    async () => {
      const { source, stream } = installation
      const { connections } = stream
      await installation.engines.kill('kafka')
      await source.send(DURING, RATE)
      await expectNobodyNotices()
      await signInTwice(installation, () => installation.engines.kill('redis'))
      for (const name of ['redis', 'kafka'] as const) await installation.engines.restart(name)
      await installation.expectEverything()
      await bothInAuditLog(installation)
      // The stream stayed open, so it misses nothing.
      const events = () => installation.eventsOnStream()
      await waitFor(() => source.accepted.every(({ id }) => events().has(id)), {
        what: 'the stream to catch up',
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
      // In progress at the outage: mail in the pipeline, outgoing replies, webhook deliveries.
      const sending = source.send(RATE * 4, RATE)
      sending.catch(() => undefined)
      const session = await SmtpSession.open(system.endpoints.smtpPort, { localAddress: peer.server.host })
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
      await source.send(RATE, RATE)
      await installation.expectEverything()
    },
    TEST_TIMEOUT,
  )
}
