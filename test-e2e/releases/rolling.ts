import type { ServiceName } from '@restante/contracts/vocabulary'
import { waitFor } from '@restante/testkit'
import type { Installation } from '../faults/harness/installation.ts'
import type { Sources } from '../stack/sources.ts'

/** Mails per second. */
const RATE = 10
const AGENTS = 2

/** Mail that flows in and out until it is stopped. */
export interface Flow {
  /** Resolves when the last mail is accepted. */
  stop(): Promise<void>
  /** Requests of agents that had to be repeated. */
  failedRequests(): string[]
}

/** Lets mail arrive, and agents reply to it, some of it with attempts that fail at first. */
export async function flowing(installation: Installation): Promise<Flow> {
  const { source, stream, peer, receiver } = installation
  await waitFor(() => stream.subscribed, { what: 'the stream' })
  const human = peer.address()
  peer.server.answerRecipient(human, ...Array<'451 4.7.1 Not now'>(5).fill('451 4.7.1 Not now'))
  receiver.failFirstOfEvery(10)
  const agents = Array.from({ length: AGENTS }, () => installation.startAgent())
  let over = false
  const sending = (async () => {
    while (!over) await source.send(RATE, RATE)
  })()
  sending.catch(() => undefined)
  return {
    async stop() {
      over = true
      await sending
      for (const agent of agents) await agent.stop()
    },
    failedRequests: () => agents.flatMap(({ setbacks }) => setbacks),
  }
}

/** Replaces the processes of a service by those of another release, one after the other, as an orchestrator does. */
export async function roll(installation: Installation, name: ServiceName, to: Sources): Promise<void> {
  for (const replica of REPLICAS) await replace(installation, name, replica, to)
}

/** Replaces one process of every service, then the others: in between both releases of every service work together. */
export async function rollAll(installation: Installation, names: readonly ServiceName[], to: Sources): Promise<void> {
  for (const replica of REPLICAS) for (const name of names) await replace(installation, name, replica, to)
}

const REPLICAS = [0, 1] as const

async function replace({ system }: Installation, name: ServiceName, replica: number, to: Sources): Promise<void> {
  const process = system.process(name, replica)
  await process.stop('SIGTERM', 35_000)
  process.runFrom(to)
  process.supervise()
  await process.ready()
  if (process.exists) await system.routed(name, replica)
}
