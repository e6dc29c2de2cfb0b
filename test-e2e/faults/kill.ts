import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { engineNames } from '@restante/local/engines/engine.ts'
import { byLength, waitFor } from '@restante/testkit'
import { eventsIn } from './harness/counts.ts'
import { Poller, ResumingStream } from './harness/following.ts'
import type { Installation } from './harness/installation.ts'
import { shuffled } from './shuffled.ts'

const MAILS = byLength({ short: 450, long: 2_000 })
const RATE = 50
/** How often the stream service is killed in front of each client that follows it. */
const KILLS = byLength({ short: 2, long: 8 })
const SEED = 20_261_121

/** Everything that can be killed, in an order that is the same in every run. */
const VICTIMS = shuffled([...SERVICES, ...engineNames], SEED)

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
    for (const [index, victim] of VICTIMS.entries()) {
      await waitFor(() => source.accepted.length >= before + share * (index + 1), {
        what: `mail to flow before ${victim} is killed`,
        timeout: 90_000,
      })
      if (isService(victim)) await installation.killService(victim)
      else await installation.outage(victim, 0)
    }
    await sending
    await waitFor(() => agent.replies.length > VICTIMS.length, {
      what: 'the agent to have sent more replies than parts were killed',
      timeout: 60_000,
    })
    await agent.stop()
    await installation.expectEverything()
  }, 420_000)

  it('has all streams reconnected afterwards, which deliver every event from then on', async () => {
    const installation = installationOf()
    const { source, stream } = installation
    await waitFor(() => stream.subscribed, { what: 'the stream to be back', timeout: 30_000 })
    expect(stream.connections).toBeGreaterThan(1)
    await source.send(100, RATE)
    const late = source.accepted.slice(-100).map(({ id }) => id)
    await waitFor(() => late.every((id) => installation.eventsOnStream().has(id)), {
      what: 'every event of the last mails',
      timeout: 30_000,
      interval: 200,
    })
    await installation.settle()
    const webhooks = installation.eventsInWebhooks()
    for (const id of late) expect(installation.eventsOnStream().get(id)).toEqual(webhooks.get(id))
  }, 120_000)
}

/** Clients that continue from cursors, while the owner of the log is killed under load. */
export function describeFollowers(installationOf: () => Installation): void {
  it.each([
    ['resumes its stream', ResumingStream],
    ['polls', Poller],
  ])(
    'gives a client that %s every event, each once, while websocket-fanout is killed again and again',
    async (_what, Client) => {
      const { source, system, tenant } = installationOf()
      const client = new Client(system.endpoints, tenant.key).start()
      await waitFor(() => client.follows, { what: 'the first cursor', timeout: 30_000 })
      const before = source.accepted.length
      const sending = source.send(KILLS * RATE * 2, RATE)
      sending.catch(() => undefined)
      for (let kill = 1; kill <= KILLS; kill++) {
        await waitFor(() => source.accepted.length >= before + kill * RATE, { what: 'mail to flow', timeout: 60_000 })
        await installationOf().killService('websocket-fanout')
      }
      await sending
      const sent = source.accepted.slice(before).map(({ id }) => id)
      const seen = () => eventsIn(client.events)
      await waitFor(() => sent.every((id) => seen().has(id)), {
        what: 'every event',
        timeout: 60_000,
        interval: 200,
      })
      await client.stop()
      const ids = client.events.map((event) => 'event_id' in event && event.event_id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(client.breaks).toBeGreaterThan(0)
    },
    180_000,
  )
}

function isService(name: string): name is ServiceName {
  return SERVICES.some((service) => service === name)
}
