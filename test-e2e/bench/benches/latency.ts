import type { Endpoints } from '../../stack/endpoints.ts'
import { peerDomain } from '../../stack/names.ts'
import { atRate } from '../../support/open-loop.ts'
import { createTenant, newUsername } from '../../support/tenants.ts'
import type { Bench, BenchContext } from '../harness/bench.ts'
import type { Figure, Goal } from '../harness/figures.ts'
import { type Summary, summarize } from '../harness/statistics.ts'
import { Arrivals, type Times } from '../load/arrivals.ts'
import { createInboxes } from '../load/inboxes.ts'
import { kafkaRoundTrips } from '../load/kafka-round-trip.ts'
import { SmtpSenders } from '../load/smtp-senders.ts'
import { readTimeline, STEPS } from '../load/timeline.ts'

interface Round {
  readonly perSecond: number
  readonly mails: number
  readonly goals: { readonly p50?: Goal; readonly p99: Goal }
}

const ROUNDS: readonly Round[] = [
  { perSecond: 1, mails: 100, goals: { p50: { atMost: 40 }, p99: { atMost: 150 } } },
  { perSecond: 50, mails: 2_000, goals: { p99: { atMost: 500 } } },
]

/** Sent before the measurement, which must not include first connections, query plans and compilations. */
const WARM_UP = { perSecond: 10, mails: 100 }

const HOPS = { perSecond: 10, records: 200 }

export const latency: Bench = {
  name: 'latency',
  about: 'from SMTP 250 to the frame on a stream and to the webhook request, compared with one bare hop over Kafka',
  async run(context) {
    const { endpoints } = await context.startSystem()
    const tenant = await createTenant(endpoints)
    const inboxes = await createInboxes(tenant, 20)
    const arrivals = context.cleanUp(await Arrivals.open(endpoints, tenant))
    const senders = context.cleanUp(new SmtpSenders(endpoints.smtpPort, `human@${peerDomain(1, 1)}`))
    const load = { endpoints, context, arrivals, senders, inboxes }
    await send(load, WARM_UP)
    context.say('one hop over Kafka ...')
    const hop = summarize(await kafkaRoundTrips(context, HOPS.perSecond, context.size(HOPS.records)))
    const figures: Figure[] = []
    for (const round of ROUNDS) figures.push(...(await measure(load, round, hop)))
    return figures
  },
}

interface Load {
  readonly endpoints: Endpoints
  readonly context: BenchContext
  readonly arrivals: Arrivals
  readonly senders: SmtpSenders
  readonly inboxes: readonly string[]
}

/** @returns the time at which the `250` of each mail was read, by Message-ID. */
async function send(load: Load, { perSecond, mails }: Pick<Round, 'perSecond' | 'mails'>): Promise<Times> {
  const accepted = new Map<string, number>()
  const [count, before] = [load.context.size(mails), load.arrivals.stream.size]
  load.context.say(`${count} mails at ${perSecond}/s ...`)
  await atRate(perSecond, count, async (index) => {
    const to = load.inboxes[index % load.inboxes.length] ?? ''
    const messageId = `<${newUsername('m')}@sender.test>`
    accepted.set(messageId, await load.senders.send(to, messageId))
  })
  await load.arrivals.count(before + count)
  return accepted
}

async function measure(load: Load, round: Round, hop: Summary): Promise<Figure[]> {
  const accepted = await send(load, round)
  const { perSecond, goals } = round
  const timeline = await readTimeline(load.endpoints)
  const steps = STEPS.map((step): Figure => {
    const { p50 } = summarize(delays(accepted, timeline[step]))
    return { name: `time until ${step} p50, ${perSecond}/s`, value: p50, unit: 'ms' }
  })
  const delivered = (['stream', 'webhook'] as const).flatMap((kind): Figure[] => {
    const { p50, p99, max } = summarize(delays(accepted, load.arrivals[kind]))
    // The goals are those of the stream. The first webhook attempt starts at the same time.
    const goalOf = (goal: Goal | undefined) => (goal && kind === 'stream' ? { goal } : {})
    const figure = (name: keyof typeof hop, value: number, goal?: Goal): Figure => ({
      name: `${kind} ${name}, ${perSecond}/s`,
      value,
      unit: 'ms',
      reference: { what: 'a hop over Kafka', value: hop[name] },
      ...goalOf(goal),
    })
    return [figure('p50', p50, goals.p50), figure('p99', p99, goals.p99), figure('max', max)]
  })
  return [...delivered, ...steps]
}

function delays(accepted: Times, reached: Times): number[] {
  return [...accepted].map(([messageId, at]) => (reached.get(messageId) ?? Number.NaN) - at)
}
