import { operate, waitFor } from '@restante/testkit'
import pg from 'pg'
import { type OutsidePeer, openPeer } from '../../../support/peers.ts'
import { createTenant, type Tenant } from '../../../support/tenants.ts'
import type { Bench } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { type Summary, summarize } from '../../harness/statistics.ts'
import { DeadDestinations } from '../../load/dead-destinations.ts'
import { createInboxes } from '../../load/inboxes.ts'
import { pidOf, usageOf } from '../../load/processes.ts'

const WAITING = 200_000
const DESTINATIONS = 200
const MAILS = 600
/** Sends that are in progress at once, from as many inboxes. */
const SENDERS = 5
/** Attempts at dead destinations are well under way by then. */
const SETTLE_MS = 45_000

/** The kind of timers of mail that found no server the last time. */
const KIND = 'delivery-slow'

interface Measured {
  readonly rate: number
  /** Milliseconds from the request to the end of DATA at the server. */
  readonly latency: Summary
}

export const queue: Bench = {
  name: 'queue',
  about: 'fresh mail to one server, with and without 200,000 deliveries that wait for dead destinations',
  async run(context) {
    const system = await context.startSystem()
    const { endpoints } = system
    const tenant = await createTenant(endpoints)
    const inboxes = await createInboxes(tenant, SENDERS)
    const peer = context.cleanUp(await openPeer(endpoints))
    const mails = context.size(MAILS)
    context.say('warming up ...')
    await sendFresh(tenant, inboxes, peer, mails / 2)
    context.say(`${mails} mails without a backlog ...`)
    const before = await sendFresh(tenant, inboxes, peer, mails)
    const dead = context.cleanUp(await new DeadDestinations(endpoints, DESTINATIONS).start())
    context.say(`filling the queue with ${context.size(WAITING)} deliveries ...`)
    await dead.fill(context.size(WAITING), KIND)
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    const pid = pidOf(system, 'mail-send')
    const cpu = (await usageOf(pid)).cpuMs
    context.say(`${mails} mails beside it (${dead.connections} connections wait for a greeting) ...`)
    const beside = await sendFresh(tenant, inboxes, peer, mails)
    const used = (await usageOf(pid)).cpuMs - cpu
    return [
      ...compare(before, beside),
      { name: 'CPU of mail-send per mail, beside them', value: used / mails, unit: 'ms' },
      await timed('counting what waits, as the metrics do', () => count(endpoints.databases['mail-send'])),
      await timed('`queue list` of the operator', () => operate(endpoints.operator, 'queue', 'list')),
    ]
  },
}

function compare(before: Measured, beside: Measured): Figure[] {
  const what = 'empty queue'
  return [
    { name: 'fresh mail delivered', value: beside.rate, unit: '/s', reference: { what, value: before.rate } },
    ...(['p50', 'p99'] as const).map(
      (name): Figure => ({
        name: `from request to server, ${name}`,
        value: beside.latency[name],
        unit: 'ms',
        reference: { what, value: before.latency[name] },
        ...(name === 'p99' && { goal: { atMost: 2 * before.latency[name] } }),
      }),
    ),
    {
      name: 'slowed by what waits',
      value: (1 - beside.rate / before.rate) * 100,
      unit: '%',
      goal: { atMost: 20 },
    },
  ]
}

let runs = 0

/** Sends mails as fast as the API takes them, and waits until the server has all. */
async function sendFresh(
  tenant: Tenant,
  inboxes: readonly string[],
  peer: OutsidePeer,
  mails: number,
): Promise<Measured> {
  const run = ++runs
  const startedAt = Date.now()
  const sent = new Map<string, number>()
  let next = 0
  await Promise.all(
    inboxes.map(async (inbox) => {
      while (next < mails) {
        const to = peer.address(`fresh-${run}-${next++}`)
        sent.set(to, Date.now())
        await tenant.client.inboxes.messages.send(inbox, { to, subject: 'Fresh', text: 'Fresh mail.' })
      }
    }),
  )
  const isOfRun = ({ recipients: [to = ''] }: { recipients: readonly string[] }) => sent.has(to)
  const arrived = await waitFor(
    () => {
      const found = peer.server.mails.filter(isOfRun)
      return found.length >= sent.size ? found : undefined
    },
    { what: 'all fresh mail', timeout: 300_000 },
  )
  const took = arrived.map(
    ({ recipients: [to = ''], receivedAt }) => receivedAt.getTime() - (sent.get(to) ?? startedAt),
  )
  const last = Math.max(...arrived.map(({ receivedAt }) => receivedAt.getTime()))
  return { rate: (arrived.length * 1_000) / (last - startedAt), latency: summarize(took) }
}

/** The duration of the second call. */
async function timed(name: string, work: () => Promise<unknown>): Promise<Figure> {
  await work()
  const began = performance.now()
  await work()
  return { name, value: performance.now() - began, unit: 'ms' }
}

async function count(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(
      `select destination, count(*), min(queued_at) from deliveries
        where state in ('queued', 'handing_over', 'deferred') group by destination`,
    )
  } finally {
    await client.end()
  }
}
