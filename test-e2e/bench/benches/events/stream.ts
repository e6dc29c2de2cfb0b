import { setTimeout as sleep } from 'node:timers/promises'
import { topics } from '@restante/contracts/events'
import { EventPublisher, type InboxScope, receivedEvent, testKafka } from '@restante/testkit'
import pg from 'pg'
import { z } from 'zod'
import type { Endpoints } from '../../../stack/endpoints.ts'
import type { System } from '../../../stack/system.ts'
import { createTenant } from '../../../support/tenants.ts'
import type { Bench, BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { type Summary, summarize } from '../../harness/statistics.ts'
import { startBareServer } from '../../load/broadcasts/bare-server.ts'
import { broadcastTimes } from '../../load/broadcasts/broadcaster.ts'
import { findCentrifugo, startCentrifugo } from '../../load/broadcasts/centrifugo.ts'
import { createInboxes, scopesOf } from '../../load/inboxes.ts'
import { pidOf, usageOf } from '../../load/processes.ts'
import { type ClientGroup, StreamClients } from '../../load/stream-clients.ts'

/** An organization may have 1,000 streams. */
const ORGANIZATIONS = 4
const STREAMS = 1_000
const FEW = 10
const BROADCASTS = 30
const TARGETED = 2_000
/** Events in one request to Kafka: even those of one partition are less than a record batch may have. */
const TOGETHER = 200
/** In which memory that was used for the handshakes is returned. */
const SETTLING_MS = 5_000
const TYPES = { event_types: ['message.received'] }

interface Place {
  readonly system: System
  readonly publisher: EventPublisher
  readonly database: pg.Client
  /** The inboxes of each organization, and the address of streams with its key. */
  readonly organizations: readonly { readonly url: string; readonly inboxes: readonly InboxScope[] }[]
}

export const stream: Bench = {
  name: 'stream',
  about:
    'idle streams, one event for 4,000 of them, and events for single ones, beside broadcasts of ws and Centrifugo',
  async run(context) {
    // Compiled ahead of everything that is measured.
    const centrifugo = await findCentrifugo(context)
    // All clients have one address here.
    const system = await context.startSystem({ environment: { HTTP_PEER_CONNECTIONS: '10000' } })
    const { endpoints } = system
    const publisher = context.cleanUp(new EventPublisher(testKafka(endpoints.topicPrefix)))
    const database = new pg.Client({ connectionString: endpoints.databases['websocket-fanout'] })
    await database.connect()
    context.cleanUp({ stop: () => database.end() })
    const streams = context.size(STREAMS)
    context.say(`${ORGANIZATIONS} organizations with ${streams} inboxes each ...`)
    const organizations: Place['organizations'][number][] = []
    for (let index = 0; index < ORGANIZATIONS; index++) organizations.push(await organization(endpoints, streams))
    const place = { system, publisher, database, organizations }
    const few = await targeted(context, place, context.size(FEW))
    const many = await targeted(context, place, streams)
    return [
      ...many.memory,
      {
        name: `CPU of websocket-fanout per event, ${streams * ORGANIZATIONS} subscriptions`,
        value: many.cpu,
        unit: 'µs',
        reference: { what: `${context.size(FEW) * ORGANIZATIONS} subscriptions`, value: few.cpu },
      },
      {
        name: `CPU per event with ${streams * ORGANIZATIONS}, of that with ${context.size(FEW) * ORGANIZATIONS}`,
        value: (many.cpu / few.cpu) * 100,
        unit: '%',
        goal: { atMost: 200 },
      },
      ...(await compareBroadcasts(context, place, streams, centrifugo)),
    ]
  },
}

async function organization(endpoints: Endpoints, inboxes: number) {
  const tenant = await createTenant(endpoints)
  await createInboxes(tenant, inboxes)
  const url = `${endpoints.streamUrl}?api_key=${tenant.key}`
  return { url, inboxes: await scopesOf(endpoints, tenant) }
}

/** Streams of one inbox each, and events for one inbox after another. */
async function targeted(context: BenchContext, { system, publisher, organizations }: Place, streams: number) {
  const groups = organizations.map(
    ({ url, inboxes }): ClientGroup => ({
      url,
      clients: streams,
      frames: inboxes.slice(0, streams).map(({ address }) => ({ type: 'subscribe', ...TYPES, inbox_ids: [address] })),
    }),
  )
  const pids = { gateway: pidOf(system, 'gateway'), 'websocket-fanout': pidOf(system, 'websocket-fanout') }
  const before = await Promise.all(Object.values(pids).map(usageOf))
  context.say(`${streams * organizations.length} streams of one inbox each ...`)
  const clients = await StreamClients.open(groups)
  try {
    await sleep(SETTLING_MS)
    const after = await Promise.all(Object.values(pids).map(usageOf))
    const memory = Object.keys(pids).map((service, index): Figure => {
      const grown = (after[index]?.residentMb ?? 0) - (before[index]?.residentMb ?? 0)
      const value = (grown * 1_024) / (streams * organizations.length)
      return { name: `memory of ${service} per idle stream`, value, unit: 'KB', goal: { atMost: 25 } }
    })
    const subscribed = organizations.flatMap(({ inboxes }) => inboxes.slice(0, streams))
    const publish = async (count: number) => {
      const events = Array.from({ length: count }, (_, at) => eventFor(subscribed[at % subscribed.length]))
      for (let from = 0; from < events.length; from += TOGETHER) {
        await publisher.publish(topics['mail.messages'], ...events.slice(from, from + TOGETHER))
      }
      await clients.last(
        events.map(({ id }) => id),
        1,
      )
    }
    const count = context.size(TARGETED)
    await publish(count)
    const { cpuMs } = await usageOf(pids['websocket-fanout'])
    await publish(count)
    const cpu = (((await usageOf(pids['websocket-fanout'])).cpuMs - cpuMs) * 1_000) / count
    return { memory, cpu }
  } finally {
    await clients.stop()
  }
}

/** A broadcast to all streams, beside broadcasts of other servers to as many clients. */
async function compareBroadcasts(context: BenchContext, place: Place, streams: number, centrifugo: string | undefined) {
  const total = streams * place.organizations.length
  context.say(`one event for ${total} streams, ${BROADCASTS} times ...`)
  const ours = summarize(await broadcast(place, streams))
  const event = eventFor(place.organizations[0]?.inboxes[0])
  const document = JSON.stringify(event.payload)
  const load = { eventId: event.id, rounds: BROADCASTS, clients: total, processes: ORGANIZATIONS }
  context.say(`a bare broadcast to ${total} clients ...`)
  const bare = summarize(await broadcastTimes(await startBareServer(document), load))
  const figures: Figure[] = [
    { name: 'from the log to the last frame, p50', value: ours.p50, unit: 'ms', goal: { atMost: 250 } },
    { name: 'from the log to the last frame, longest', value: ours.max, unit: 'ms', goal: { atMost: 250 } },
    { name: 'frames of a broadcast', ...frameRates(total, ours, { what: 'bare ws', times: bare }) },
    { name: 'of the bare broadcast', value: (bare.p50 / ours.p50) * 100, unit: '%', goal: { atLeast: 70 } },
  ]
  if (centrifugo === undefined) return figures
  context.say(`a broadcast of Centrifugo to ${total} clients ...`)
  const theirs = summarize(await broadcastTimes(await startCentrifugo(context, centrifugo, document), load))
  const reference = { what: 'Centrifugo', times: theirs }
  return [...figures, { name: 'frames of a broadcast, beside Centrifugo', ...frameRates(total, ours, reference) }]
}

function frameRates(total: number, ours: Summary, reference: { readonly what: string; readonly times: Summary }) {
  const perSecond = ({ p50 }: Summary) => (total * 1_000) / p50
  const { what, times } = reference
  return { value: perSecond(ours), unit: '/s', reference: { what, value: perSecond(times) } } as const
}

/** One event for each organization at the same time, for all of its streams: as many frames as streams. */
async function broadcast(place: Place, streams: number): Promise<number[]> {
  const groups = place.organizations.map(({ url }) => ({
    url,
    clients: streams,
    frames: [{ type: 'subscribe', ...TYPES }],
  }))
  const clients = await StreamClients.open(groups)
  const times: number[] = []
  try {
    for (let round = 0; round < BROADCASTS; round++) {
      const events = place.organizations.map(({ inboxes }) => eventFor(inboxes[0]))
      const ids = events.map(({ id }) => id)
      await place.publisher.publish(topics['mail.messages'], ...events)
      const last = await clients.last(ids, streams)
      times.push(last - (await loggedAt(place.database, ids)))
    }
  } finally {
    await clients.stop()
  }
  return times
}

/** When the first of some events was appended to the log, in Unix milliseconds. */
async function loggedAt(database: pg.Client, ids: readonly string[]): Promise<number> {
  const { rows } = await database.query(
    'select min(created_at) as at from stream_log where event_id = any($1::uuid[])',
    [ids],
  )
  return z.object({ at: z.date() }).parse(rows[0]).at.getTime()
}

function eventFor(scope: InboxScope | undefined) {
  if (scope === undefined) throw new Error('there is no inbox')
  return receivedEvent(scope, { text: 'The quick brown fox jumps over the lazy dog. '.repeat(40) })
}
