import { byLength, PATIENCE_MS, waitFor } from '@restante/testkit'
import { eventsIn, repeated } from './harness/counts.ts'
import { Poller, ResumingStream } from './harness/following.ts'
import type { Installation } from './harness/installation.ts'

/** Mail that arrives before each fault, at so many a second, and as much again in the end. */
const BURST = byLength({ short: 20, long: 50 })
/** How often everything is killed. */
const ROUNDS = byLength({ short: 1, long: 4 })
/** Of so many deliveries the first attempt of one fails, so that there are repetitions whatever a kill interrupts. */
const FAILING = 10

/**
 * The promises to clients that continue from cursors, and to webhooks, while what their events pass is killed under load. Each
 * kill moves partitions: to the other process of the service, if it has `replicas`, and back, or to the one that follows.
 */
export function describeFollowers(installationOf: () => Installation, { replicas } = { replicas: 1 }): void {
  it('gives clients that resume their stream or poll every event, each once, and webhooks each under one id, while websocket-fanout, webhooks-dispatcher and Kafka are killed', async () => {
    const installation = installationOf()
    const { source, system, tenant, receiver } = installation
    const clients = [ResumingStream, Poller].map((Client) => new Client(system.endpoints, tenant.key).start())
    await waitFor(() => clients.every(({ follows }) => follows), { what: 'the first cursors' })
    receiver.failFirstOfEvery(FAILING)
    const [before, requestsBefore] = [source.accepted.length, receiver.requests.length]
    const faults = Array.from({ length: ROUNDS }, (_, round) => [
      () => installation.killService('websocket-fanout', round % replicas),
      () => installation.killService('webhooks-dispatcher', round % replicas),
      () => installation.killAndRestart('kafka'),
    ]).flat()
    const sending = source.send((faults.length + 1) * BURST, BURST)
    sending.catch(() => undefined)
    for (const [index, fault] of faults.entries()) {
      await waitFor(() => source.accepted.length >= before + (index + 1) * BURST, {
        what: 'mail to flow',
        timeout: 2 * PATIENCE_MS,
      })
      await fault()
    }
    await sending
    const sent = source.accepted.slice(before).map(({ id }) => id)
    for (const client of clients) {
      const seen = () => eventsIn(client.events)
      await waitFor(() => sent.every((id) => seen().has(id)), {
        what: `every event at the ${client.constructor.name}`,
        timeout: 2 * PATIENCE_MS,
        interval: 200,
      })
      await client.stop()
      const ids = client.events.map((event) => 'event_id' in event && event.event_id)
      expect(new Set(ids).size).toBe(ids.length)
    }
    // Of several processes not every one has each client.
    expect(clients.reduce((sum, { breaks }) => sum + breaks, 0)).toBeGreaterThan(0)
    await waitFor(() => sent.every((id) => installation.eventsInWebhooks().has(id)), {
      what: 'every event at the webhook',
      timeout: 2 * PATIENCE_MS,
      interval: 200,
    })
    receiver.failFirstOfEvery(0)
    await installation.expectEverything()
    const requested = () => receiver.requests.slice(requestsBefore).map(({ headers }) => String(headers['svix-id']))
    await waitFor(() => repeated(requested()).length >= Math.floor(sent.length / FAILING), {
      what: 'the repetitions of what failed',
      timeout: 2 * PATIENCE_MS,
    })
  }, 600_000)
}
