import { SERVICES } from '@restante/contracts/vocabulary'
import { type EngineName, engineNames } from '@restante/local/engines/engine.ts'
import { byLength, PATIENCE_MS, waitFor } from '@restante/testkit'
import type { Installation } from './harness/installation.ts'
import { shuffled } from './shuffled.ts'

/** Mail that arrives while parts are killed. In the short form it is enough to last until the last of them. */
const MAILS = byLength({ short: 100, long: 2_000 })
const RATE = byLength({ short: 4, long: 50 })
/** Mail that arrives between two faults, or after them, per second. */
const BURST = byLength({ short: 20, long: 50 })
const SEED = 20_261_121

/** How many services are killed at a time. */
const AT_ONCE = byLength({ short: 2, long: 1 })
/** What is killed, in an order that is the same in every run. The outages of the short form have killed each engine. */
const VICTIMS = shuffled([...SERVICES, ...byLength<readonly EngineName[]>({ short: [], long: engineNames })], SEED)

/** The promises of an installation whose parts are killed one after another while mail arrives. */
export function describeKills(installationOf: () => Installation): void {
  it(`stores every mail that it answered with 250 once, and publishes each under one id, while ${VICTIMS.join(', ')} are killed`, async () => {
    const installation = installationOf()
    const { source, stream } = installation
    await waitFor(() => stream.subscribed, { what: 'the stream' })
    const before = source.accepted.length
    const sending = source.send(MAILS, RATE)
    sending.catch(() => undefined)
    const agent = installation.startAgent()
    const share = MAILS / (VICTIMS.length + 1)
    for (let killed = 0; killed < VICTIMS.length; killed += AT_ONCE) {
      const victims = VICTIMS.slice(killed, killed + AT_ONCE)
      await waitFor(() => source.accepted.length >= before + share * (killed + 1), {
        what: `mail to flow before ${victims.join(' and ')} is killed`,
        timeout: 2 * PATIENCE_MS,
      })
      await Promise.all(victims.map((victim) => installation.killAndRestart(victim)))
    }
    await sending
    await waitFor(() => agent.replies.length > VICTIMS.length, {
      what: 'the agent to have sent more replies than parts were killed',
      timeout: 2 * PATIENCE_MS,
    })
    await agent.stop()
    await installation.expectEverything()
  }, 420_000)

  it('has all streams reconnected afterwards, which deliver every event from then on', async () => {
    const installation = installationOf()
    const { source, stream } = installation
    await waitFor(() => stream.subscribed, { what: 'the stream to be back' })
    expect(stream.connections).toBeGreaterThan(1)
    await source.send(2 * BURST, BURST)
    const late = source.accepted.slice(-2 * BURST).map(({ id }) => id)
    await waitFor(() => late.every((id) => installation.eventsOnStream().has(id)), {
      what: 'every event of the last mails',
      interval: 200,
    })
    await installation.settle()
    const webhooks = installation.eventsInWebhooks()
    for (const id of late) expect(installation.eventsOnStream().get(id)).toEqual(webhooks.get(id))
  })
}
