import { waitFor } from '@restante/testkit'
import { z } from 'zod'
import type { System } from '../../stack/system.ts'
import { createTenant, type Tenant } from '../../support/tenants.ts'
import type { Bench, BenchContext } from '../harness/bench.ts'
import type { Figure } from '../harness/figures.ts'
import { summarize } from '../harness/statistics.ts'
import { dateutilTime, type ExpandedSeries } from '../load/calendar/dateutil.ts'
import { EventCopies } from '../load/calendar/event-copies.ts'
import { usageOf } from '../load/processes.ts'

const RULES = ['FREQ=DAILY', 'FREQ=WEEKLY', 'FREQ=MONTHLY', 'FREQ=YEARLY', 'FREQ=WEEKLY;INTERVAL=2'] as const
const SERIES = 500
const ONE_OFFS = 9_500
const QUARTER = 15 * 60
const DAY = 24 * 60 * 60
const REQUESTS = 200
const CALLS = 10_000
const WARM_UP = 50
const WARM_CALLS = 1_000
const BOUNDARIES = 10_000

const mutation = z.object({ event: z.object({ event_id: z.string() }) })

interface Measured {
  readonly context: BenchContext
  readonly system: System
  readonly tenant: Tenant
  readonly copies: EventCopies
}

export const calendar: Bench = {
  name: 'calendar',
  about: 'an agenda of 10,000 events with 500 endless series, and 10,000 starts within a minute',
  async run(context) {
    const system = await context.startSystem()
    const tenant = await createTenant(system.endpoints)
    const copies = context.cleanUp(await EventCopies.open(system.endpoints))
    const measured = { context, system, tenant, copies }
    return [...(await measureAgenda(measured)), ...(await measureBoundaries(measured))]
  },
}

async function measureAgenda({ context, system, tenant, copies }: Measured): Promise<Figure[]> {
  const base = await newCalendar(tenant)
  const [from, apart] = [utc(-400 * DAY), QUARTER]
  context.say('events ...')
  const count = context.size(SERIES) / RULES.length - 1
  for (const rule of RULES) {
    await copies.add({ pattern: await create(tenant, base, from, { recurrence: { rule } }), count, apart })
  }
  await copies.add({ pattern: await create(tenant, base, from), count: context.size(ONE_OFFS) - 1, apart: 2 * 60 * 60 })
  await copies.analyze()
  const window = { after: utc(0), before: utc(90 * DAY) }
  const path = `${base}/agenda?after=${window.after}Z&before=${window.before}Z`
  const { p50, p99 } = summarize(await timesOf(tenant, path, context.size(REQUESTS)))
  const series = RULES.flatMap((rule) =>
    Array.from({ length: count + 1 }, (_, index): ExpandedSeries => ({ rule, start: utc(index * apart, from) })),
  )
  const dateutil = await dateutilTime(series, window)
  const reference = dateutil && { what: `python-dateutil, ${dateutil.dates} dates`, value: dateutil.ms }
  const pid = system.process('calendar').pid ?? 0
  context.say('memory ...')
  // Until then the heap grows to its size.
  await timesOf(tenant, path, WARM_CALLS)
  const before = await usageOf(pid)
  await timesOf(tenant, path, context.size(CALLS))
  const after = await usageOf(pid)
  return [
    { name: 'agenda of 90 days p50', value: p50, unit: 'ms', goal: { atMost: 30 }, ...(reference && { reference }) },
    { name: 'agenda of 90 days p99', value: p99, unit: 'ms', goal: { atMost: 150 } },
    {
      name: 'growth over 10,000 agendas',
      value: after.residentMb - before.residentMb,
      unit: 'MB',
      goal: { atMost: 20 },
    },
  ]
}

/** Events that start within a minute, half a minute long. */
async function measureBoundaries({ context, tenant, copies }: Measured): Promise<Figure[]> {
  const base = await newCalendar(tenant)
  const count = context.size(BOUNDARIES)
  const pattern = await create(tenant, base, utc(20))
  await copies.add({ pattern, count: count - 1, apart: 60 / count, timers: true })
  context.say('starts and ends ...')
  const all = await waitFor(
    async () => {
      const told = await copies.told()
      return told.lags.length >= 2 * count && told
    },
    { what: 'all starts and ends', timeout: 300_000, interval: 1_000 },
  )
  const { p50, p99, max } = summarize(all.lags)
  return [
    { name: 'start and end told late p50', value: p50, unit: 'ms' },
    { name: 'start and end told late p99', value: p99, unit: 'ms', goal: { atMost: 5_000 } },
    { name: 'start and end told late, last', value: max, unit: 'ms' },
    { name: 'told again', value: all.lags.length - all.ids, unit: 'rows', goal: { atMost: 0 } },
  ]
}

async function newCalendar(tenant: Tenant): Promise<string> {
  const { inboxId } = await tenant.client.inboxes.create({})
  return `/v0/inboxes/${encodeURIComponent(inboxId)}/calendar`
}

/** Creates an event of half a minute in UTC. @returns its id. */
async function create(tenant: Tenant, base: string, start: string, more: object = {}): Promise<string> {
  const event = { title: 'Event', description: 'About it. '.repeat(50), start, end: utc(30, start), timezone: 'UTC' }
  const { status, body } = await tenant.api.post(`${base}/events`, { ...event, ...more })
  if (status !== 201) throw new Error(`an event was answered ${status}: ${JSON.stringify(body)}`)
  return mutation.parse(body).event.event_id
}

async function timesOf(tenant: Tenant, path: string, count: number): Promise<number[]> {
  const times: number[] = []
  for (let index = -WARM_UP; index < count; index++) {
    const began = performance.now()
    const { status, body } = await tenant.api.get(path)
    if (status !== 200) throw new Error(`the agenda was answered ${status}: ${JSON.stringify(body)}`)
    if (index >= 0) times.push(performance.now() - began)
  }
  return times
}

/** The time so many seconds later, in UTC and without an offset. @param from default: now. */
function utc(seconds: number, from?: string): string {
  const base = from === undefined ? Date.now() : Date.parse(`${from}Z`)
  return new Date(base + seconds * 1_000).toISOString().slice(0, 19)
}
