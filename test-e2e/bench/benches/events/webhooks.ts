import { waitFor } from '@restante/testkit'
import { z } from 'zod'
import { createTenant } from '../../../support/tenants.ts'
import type { Bench, BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { createInboxes } from '../../load/inboxes.ts'
import { pidOf, usageOf } from '../../load/processes.ts'
import { steadyEvents } from '../../load/webhooks/steady-events.ts'
import { eventsFor, WebhookLoad } from '../../load/webhooks/webhook-load.ts'
import { Program } from '../../programs/program.ts'

const EVENTS = 20_000
/** Webhooks that the events are spread over: each may have ten requests in flight, and the dispatcher fifty. */
const WEBHOOKS = 10
const CONNECTIONS = 50
/** Events for the healthy endpoint at a steady rate. */
const STEADY = 1_500
const STEADY_RATE = 50

export const webhooks: Bench = {
  name: 'webhooks',
  about:
    'events delivered by webhook to a loopback receiver, beside a bare undici loop, and beside endpoints that fail',
  async run(context) {
    const system = await context.startSystem()
    const tenant = await createTenant(system.endpoints)
    const load = context.cleanUp(await WebhookLoad.open(system.endpoints, tenant))
    const inboxes = await createInboxes(tenant, WEBHOOKS + 3)
    const pid = pidOf(system, 'webhooks-dispatcher')
    const database = system.endpoints.databases['webhooks-dispatcher']
    const rates = await measureRate(context, load, { inboxes, pid, database })
    return [...rates, ...(await measureNeighbours(context, load, inboxes))]
  },
}

interface Measured {
  readonly inboxes: readonly string[]
  /** Of webhooks-dispatcher. */
  readonly pid: number
  readonly database: string
}

async function measureRate(
  context: BenchContext,
  load: WebhookLoad,
  { inboxes, pid, database }: Measured,
): Promise<Figure[]> {
  const scopes = await Promise.all(inboxes.slice(0, WEBHOOKS).map((inboxId) => load.subscribe(inboxId, '/ok')))
  const count = context.size(EVENTS)
  context.say('a bare loop of undici ...')
  const posts = { url: `${load.url}/ok`, body: JSON.stringify(eventsFor(scopes, 1)[0]?.payload), requests: count }
  const bare = await bareRate(posts)
  context.say('the same with rows ...')
  const durable = await bareRate({ ...posts, database })
  context.say('warming up ...')
  const warm = await load.publish(eventsFor(scopes, count / 4))
  await load.received(warm.keys())
  context.say(`${count} events ...`)
  const events = eventsFor(scopes, count)
  const cpu = (await usageOf(pid)).cpuMs
  const began = Date.now()
  const published = await load.publish(events)
  await load.received(published.keys())
  const last = Math.max(...events.map(({ id }) => load.arrivals.get(id) ?? 0))
  const used = (await usageOf(pid)).cpuMs - cpu
  const total = warm.size + count
  await waitFor(async () => (await load.logged()) === total, { what: `${total} rows in the log`, timeout: 60_000 })
  const rate = (count * 1_000) / (last - began)
  return [
    {
      name: 'delivered, with a row of the log each',
      value: rate,
      unit: '/s',
      goal: { atLeast: 1_000 },
      reference: { what: 'bare undici', value: bare },
    },
    { name: 'of the bare loop', value: (rate / bare) * 100, unit: '%', goal: { atLeast: 40 } },
    {
      name: 'delivered, beside a loop that stores and settles a row each',
      value: rate,
      unit: '/s',
      reference: { what: 'undici and rows', value: durable },
    },
    { name: 'CPU of webhooks-dispatcher per delivery', value: (used * 1_000) / count, unit: 'µs' },
  ]
}

/** Requests a second by a loop that does nothing else. */
async function bareRate(posts: {
  readonly url: string
  readonly body: string
  readonly requests: number
  /** For rows. */
  readonly database?: string
}): Promise<number> {
  const loop = Program.start('webhook-posts', { ...posts, connections: CONNECTIONS })
  const { seconds } = await loop.next(z.object({ seconds: z.number(), cpuMs: z.number() }))
  await loop.stop()
  return posts.requests / seconds
}

/** The healthy endpoint alone, and with two that get as many events and fail each in its way. */
async function measureNeighbours(
  context: BenchContext,
  load: WebhookLoad,
  inboxes: readonly string[],
): Promise<Figure[]> {
  const [healthyInbox = '', failingInbox = '', slowInbox = ''] = inboxes.slice(WEBHOOKS)
  const healthy = await load.subscribe(healthyInbox, '/ok')
  const count = context.size(STEADY)
  context.say(`${count} events at ${STEADY_RATE}/s for a healthy endpoint ...`)
  const alone = await steadyEvents(load, [healthy], { count, rate: STEADY_RATE })
  const bad = [await load.subscribe(failingInbox, '/500'), await load.subscribe(slowInbox, '/slow')]
  context.say('the same beside an endpoint that answers 500 and one that sleeps for ten seconds ...')
  const beside = await steadyEvents(load, [healthy, ...bad], { count, rate: STEADY_RATE })
  return [
    ...(['p50', 'p99'] as const).map(
      (name): Figure => ({
        name: `from Kafka to a healthy endpoint beside bad ones, ${name}`,
        value: beside[name],
        unit: 'ms',
        reference: { what: 'alone', value: alone[name] },
      }),
    ),
    { name: 'p99 beside them, of p99 alone', value: (beside.p99 / alone.p99) * 100, unit: '%', goal: { atMost: 200 } },
  ]
}
