import { setTimeout as pause } from 'node:timers/promises'
import { createTenant, type Tenant } from '../../../support/tenants.ts'
import type { Bench, BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { createInboxes } from '../../load/inboxes.ts'
import { usageOf } from '../../load/processes.ts'
import { steadyEvents } from '../../load/webhooks/steady-events.ts'
import { eventsFor, WebhookLoad } from '../../load/webhooks/webhook-load.ts'

const EVENTS = 1_000_000
/** Events made at a time: all of them would not fit into memory. */
const CHUNK = 10_000
/** Webhooks that the backlog is spread over. */
const WEBHOOKS = 10
/** Events of the other organization, before the backlog and during it. */
const FRESH = { count: 200, rate: 10 }
const SAMPLE_MS = 2_000
/** The first samples of memory are those of a start. */
const WARM_SAMPLES = 10
/** Memory that counts as flat, in percent of the first: garbage that is not collected yet moves it by some. */
const FLAT = 110

export const backlog: Bench = {
  name: 'backlog',
  about: '1,000,000 events that webhooks-dispatcher is behind, and events of another organization meanwhile',
  async run(context) {
    const system = await context.startSystem()
    const dispatcher = system.process('webhooks-dispatcher')
    const [crowd, other] = [await createTenant(system.endpoints), await createTenant(system.endpoints)]
    const [load, fresh] = [
      context.cleanUp(await WebhookLoad.open(system.endpoints, crowd)),
      context.cleanUp(await WebhookLoad.open(system.endpoints, other)),
    ]
    const crowded = await subscribe(crowd, load, WEBHOOKS)
    const single = await subscribe(other, fresh, 1)
    context.say('events of the other organization alone ...')
    const alone = await steadyEvents(fresh, single, FRESH)
    await dispatcher.stop()
    const count = context.size(EVENTS)
    context.say(`publishing ${count} events while webhooks-dispatcher is stopped ...`)
    for (let sent = 0; sent < count; sent += CHUNK)
      await load.publish(eventsFor(crowded, Math.min(CHUNK, count - sent)))
    dispatcher.supervise()
    await dispatcher.ready()
    const [beside, worked] = await Promise.all([
      steadyEvents(fresh, single, FRESH),
      workOff(context, load, { pid: dispatcher.pid, before: FRESH.count, all: count + 2 * FRESH.count }),
    ])
    return [
      { name: 'worked off', value: worked.rate, unit: '/s' },
      {
        name: 'memory at the end',
        value: worked.mb.last,
        unit: 'MB',
        reference: { what: 'first', value: worked.mb.first },
      },
      {
        name: 'memory at the end, of the first',
        value: (worked.mb.last / worked.mb.first) * 100,
        unit: '%',
        goal: { atMost: FLAT },
      },
      ...(['p50', 'p99'] as const).flatMap((name): Figure[] => [
        {
          name: `from Kafka to the endpoint of the other organization, ${name}`,
          value: beside[name],
          unit: 'ms',
          reference: { what: 'alone', value: alone[name] },
        },
        {
          name: `${name} beside the backlog, of ${name} alone`,
          value: (beside[name] / alone[name]) * 100,
          unit: '%',
          goal: { atMost: 200 },
        },
      ]),
    ]
  },
}

/** Creates inboxes with a webhook each. */
async function subscribe(tenant: Tenant, load: WebhookLoad, count: number) {
  const inboxes = await createInboxes(tenant, count)
  return Promise.all(inboxes.map((inboxId) => load.subscribe(inboxId, '/ok')))
}

interface Work {
  readonly pid: number | undefined
  /** Deliveries in the log before, and at the end. */
  readonly before: number
  readonly all: number
}

/** Waits until everything is delivered. @returns the rate, and the memory of the dispatcher. */
async function workOff(context: BenchContext, load: WebhookLoad, { pid, before, all }: Work) {
  if (pid === undefined) throw new Error('webhooks-dispatcher does not run')
  const began = Date.now()
  const samples: number[] = []
  for (let logged = before, said = before; logged < all; ) {
    await pause(SAMPLE_MS)
    samples.push((await usageOf(pid)).residentMb)
    logged = await load.logged()
    if (logged - said < (all - before) / 10) continue
    said = logged
    context.say(`${logged - before} delivered ...`)
  }
  const [first = 0, last = 0] = [samples[Math.min(WARM_SAMPLES, samples.length - 1)], samples.at(-1)]
  return { rate: ((all - before) * 1_000) / (Date.now() - began), mb: { first, last } }
}
