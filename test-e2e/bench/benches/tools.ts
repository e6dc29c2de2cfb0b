import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { System } from '../../stack/system.ts'
import { atRate } from '../../support/open-loop.ts'
import { createTenant, type Tenant } from '../../support/tenants.ts'
import { callTool } from '../../support/tools.ts'
import type { Bench, BenchContext } from '../harness/bench.ts'
import type { Figure } from '../harness/figures.ts'
import { inParallel } from '../harness/in-parallel.ts'
import { summarize } from '../harness/statistics.ts'
import { createInboxes } from '../load/inboxes.ts'
import { usageOf } from '../load/processes.ts'
import { readTimeline } from '../load/timeline.ts'

/** Callers that wait at the same time, each for its own inbox. */
const CALLERS = 500
/** Mails that are waited for, and how many arrive in a second. */
const MAILS = 300
const PER_SECOND = 5
const WAIT_SECONDS = 60
/** Callers that begin to wait in a second. */
const BEGINNING = 25
/** In which memory that the beginning used is returned. */
const SETTLING_MS = 10_000
const CALLS = 1_000
const AT_ONCE = 8
/** Every service that a waiting call holds something in. */
const HOLDING = ['mcp', 'gateway', 'websocket-fanout'] as const
const IN_A_CALL = ['mcp', 'gateway', 'mail-ingest'] as const

interface Place {
  readonly context: BenchContext
  readonly system: System
  readonly tenant: Tenant
  readonly inboxes: readonly string[]
}

export const tools: Bench = {
  name: 'mcp',
  about: 'memory of callers that wait for a message, how soon they get it, and tool calls beside the same by REST',
  async run(context) {
    // All clients have one address here.
    const system = await context.startSystem({ environment: { HTTP_PEER_CONNECTIONS: '10000' } })
    const tenant = await createTenant(system.endpoints)
    const callers = context.size(CALLERS)
    context.say(`${callers} inboxes ...`)
    const place = { context, system, tenant, inboxes: await createInboxes(tenant, callers) }
    const atRest = await memoryOf(place)
    context.say('warming up ...')
    await waits(place, 1)
    return [
      ...HOLDING.map(
        (name): Figure => ({ name: `${name} at rest`, value: atRest.get(name) ?? Number.NaN, unit: 'MB' }),
      ),
      ...(await waiting(place)),
      ...(await handedOver(place)),
      ...(await calls(place)),
    ]
  },
}

/** On a busy machine the gateway may be late: clients are told to repeat the call, and how long that takes counts. */
const ATTEMPTS = 20

const structured = z.looseObject({ messages: z.array(z.looseObject({ messageId: z.string() })), cursor: z.string() })

async function wait({ system, tenant }: Place, inboxId: string | undefined, waitSeconds: number, after?: string) {
  const args = { inboxId, waitSeconds, after }
  for (let attempt = 1; ; attempt++) {
    const answer = await callTool(system.endpoints, tenant.key, 'wait_for_message', args)
    if (!answer.isError) return structured.parse(answer.structured)
    if (answer.structured['code'] !== 'service_unavailable' || attempt === ATTEMPTS)
      throw new Error(`wait_for_message failed: ${JSON.stringify(answer.structured)}`)
  }
}

/** Every caller waits once, for as long as nothing comes. */
async function waits(place: Place, seconds: number): Promise<void> {
  await atRate(
    BEGINNING,
    place.inboxes.length,
    async (index) => void (await wait(place, place.inboxes[index], seconds)),
  )
}

async function memoryOf({ system }: Place): Promise<ReadonlyMap<string, number>> {
  const entries = HOLDING.map(async (name) => {
    const { residentMb } = await usageOf(system.process(name).pid ?? 0)
    return [name, residentMb] as const
  })
  return new Map(await Promise.all(entries))
}

/** What the process of each service grows by while all callers wait. */
async function waiting(place: Place): Promise<Figure[]> {
  const { context, inboxes } = place
  context.say(`${inboxes.length} callers wait for ${WAIT_SECONDS} s ...`)
  await sleep(SETTLING_MS)
  const before = await memoryOf(place)
  const all = waits(place, WAIT_SECONDS)
  await sleep((inboxes.length * 1_000) / BEGINNING + SETTLING_MS)
  const during = await memoryOf(place)
  await all
  return HOLDING.map((name) => ({
    name: `${name}: memory of ${inboxes.length} callers that wait`,
    value: (during.get(name) ?? 0) - (before.get(name) ?? 0),
    unit: 'MB',
    goal: { atMost: 50 },
  }))
}

/** From the event of a mail, by the clock of its transaction, until its caller has the answer. */
async function handedOver(place: Place): Promise<Figure[]> {
  const { context, system, tenant, inboxes } = place
  const count = context.size(MAILS)
  context.say(`${count} mails for callers that wait ...`)
  const answered = new Map<string, number>()
  const to = (index: number) => inboxes[index % inboxes.length] ?? ''
  await atRate(PER_SECOND, count, async (index) => {
    const { cursor } = await wait(place, to(index), 0)
    const answer = wait(place, to(index), WAIT_SECONDS, cursor)
    await tenant.client.inboxes.messages.send(to(index + 1), { to: to(index), subject: `Mail ${index}`, text: 'Hello' })
    const { messages } = await answer
    for (const { messageId } of messages) answered.set(messageId, performance.now())
  })
  const { stored } = await readTimeline(system.endpoints)
  const { p50, p99, max } = summarize(
    [...answered].flatMap(([id, at]) => {
      const since = stored.get(id)
      return since === undefined ? [] : [at - since]
    }),
  )
  return [
    { name: 'from the event to the answer, p50', value: p50, unit: 'ms' },
    { name: 'from the event to the answer, p99', value: p99, unit: 'ms', goal: { atMost: 100 } },
    { name: 'from the event to the answer, longest', value: max, unit: 'ms' },
  ]
}

/** CPU of a list, called as a tool and by REST. */
async function calls(place: Place): Promise<Figure[]> {
  const { context, system, tenant, inboxes } = place
  const count = context.size(CALLS)
  const [inboxId = ''] = inboxes
  context.say(`${count} lists by tool and by REST ...`)
  const tool = () => callTool(system.endpoints, tenant.key, 'list_messages', { inboxId })
  const rest = () => tenant.api.get(`/v0/inboxes/${encodeURIComponent(inboxId)}/messages?limit=10`)
  const measure = async (call: () => Promise<unknown>) => {
    await inParallel(count / 5, AT_ONCE, async () => void (await call()))
    const before = await cpuOf(system)
    await inParallel(count, AT_ONCE, async () => void (await call()))
    const after = await cpuOf(system)
    return IN_A_CALL.map((_, at) => ((after[at] ?? 0) - (before[at] ?? 0)) / count)
  }
  const [ours, theirs] = [await measure(tool), await measure(rest)]
  return IN_A_CALL.map((name, at) => ({
    name: `CPU of ${name} per list_messages`,
    value: ours[at] ?? Number.NaN,
    unit: 'ms',
    reference: { what: 'by REST', value: theirs[at] ?? Number.NaN },
  }))
}

function cpuOf(system: System): Promise<number[]> {
  return Promise.all(IN_A_CALL.map(async (name) => (await usageOf(system.process(name).pid ?? 0)).cpuMs))
}
