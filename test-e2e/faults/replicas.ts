import { SERVICES } from '@restante/contracts/vocabulary'
import { waitFor } from '@restante/testkit'
import type { Installation } from './harness/installation.ts'

const RATE = 20
/** In each round one process of each service is restarted. */
const ROUNDS = 2
const AGENTS = 3
/** Close code of a stream whose client should reconnect (events 6.7). */
const RESTART = 1012

/**
 * The promises of an installation with two processes of each service, which are restarted one after another under load.
 */
export function describeReplicaRestarts(installationOf: () => Installation): void {
  it('loses nothing, does nothing twice and fails no request while each service is restarted under load', async () => {
    const installation = installationOf()
    const { source, stream, system, peer, receiver } = installation
    await waitFor(() => stream.subscribed, { what: 'the stream' })
    // Timers have work in the meantime: the first attempt of some webhooks and mails fails.
    const human = peer.address()
    peer.server.answerRecipient(human, ...Array<'451 4.7.1 Not now'>(5).fill('451 4.7.1 Not now'))
    receiver.failFirstOfEvery(10)
    const agents = Array.from({ length: AGENTS }, () => installation.startAgent())
    let over = false
    const sending = (async () => {
      while (!over) await source.send(RATE, RATE)
    })()
    sending.catch(() => undefined)
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of SERVICES) {
        const process = system.process(name, round % 2)
        await process.stop('SIGTERM', 35_000)
        process.supervise()
        await process.ready()
      }
    }
    over = true
    await sending
    for (const agent of agents) await agent.stop()
    await installation.expectEverything()
    expect(agents.flatMap(({ setbacks }) => setbacks)).toEqual([])
    // A mail server gets 421 and retries, as SMTP specifies.
    const setbacks = source.accepted.flatMap((mail) => mail.setbacks)
    expect(setbacks.filter((setback) => !/\b4\d\d\b|closed|ECONNRESET/i.test(setback))).toEqual([])
    expect(installation.deliveredTwice()).toEqual([])
    expect(installation.arrivedTwice()).toEqual([])
    expect(stream.closes.length).toBeGreaterThan(0)
    expect(new Set(stream.closes)).toEqual(new Set([RESTART]))
  }, 420_000)
}
