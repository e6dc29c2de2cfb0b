import { waitFor } from '@restante/testkit'
import pg from 'pg'
import type { System } from '../../stack/system.ts'
import { openStream } from '../../support/streams.ts'
import { createTenant, type Tenant } from '../../support/tenants.ts'
import type { Bench, BenchContext } from '../harness/bench.ts'
import type { Figure } from '../harness/figures.ts'
import { inParallel } from '../harness/in-parallel.ts'
import { Arrivals } from '../load/arrivals.ts'
import { costOf } from '../load/costs/cost-of.ts'
import { createInboxes } from '../load/inboxes.ts'
import { USUAL_BYTES } from '../load/mail.ts'
import { pidOf, usageOf } from '../load/processes.ts'
import { SmtpSenders } from '../load/smtp-senders.ts'
import { SmtpSink } from '../load/smtp-sink.ts'

const INBOXES = 20
const IDLE_INBOXES = 500
const MAILS = 600
const LARGE_MAILS = 200
const SENT = 400
const IDLE_STREAMS = 300
const SENDERS = 10
const LARGE_BYTES = 100_000
/** About 10 KB, which do not compress well. */
const TEXT = Array.from({ length: 160 }, (_, line) => `${line} ${'words of a mail that is sent '.repeat(2)}`).join('\n')

/** A system and an organization whose mail is measured. */
interface Measured {
  readonly context: BenchContext
  readonly system: System
  readonly tenant: Tenant
  readonly inboxes: readonly string[]
  readonly database: pg.Client
}

export const capacity: Bench = {
  name: 'capacity',
  about:
    'what a mail, a webhook, a frame, an inbox and a stream cost: CPU, WAL, rows, bytes in databases, Kafka and blobs',
  async run(context) {
    const sink = context.cleanUp(await new SmtpSink().start())
    const system = await context.startSystem({
      environment: { SMARTHOST: `127.0.0.1:${sink.port}`, SMARTHOST_TLS: 'none', SENDER_AUTH: 'trust-loopback' },
    })
    const tenant = await createTenant(system.endpoints)
    const database = new pg.Client({ connectionString: system.endpoints.databases['mail-ingest'] })
    await database.connect()
    context.cleanUp({ stop: () => database.end() })
    const measured = { context, system, tenant, database, inboxes: await createInboxes(tenant, INBOXES) }
    context.say('warming up ...')
    await receive(measured, MAILS / 4, USUAL_BYTES)
    const idle = await costOf(measured, 'idle inbox', IDLE_INBOXES, async (count) => {
      await createInboxes(tenant, count)
    })
    const received = [
      ...(await costOf(measured, 'received mail of 10 KB', MAILS, (count) => receive(measured, count, USUAL_BYTES))),
      ...(await costOf(measured, 'received mail of 100 KB', LARGE_MAILS, (count) =>
        receive(measured, count, LARGE_BYTES),
      )),
    ]
    const sent = await costOf(measured, 'sent mail of 10 KB', SENT, (count) => send(measured, sink, count))
    return [...idle, ...received, ...sent, ...(await observed(measured)), ...(await idleStreams(measured))]
  },
}

/** The same mails with a webhook and a stream: what is more than without them, they cost. */
async function observed(measured: Measured): Promise<Figure[]> {
  const { context, system, tenant } = measured
  const arrivals = context.cleanUp(await Arrivals.open(system.endpoints, tenant))
  return costOf(measured, 'received mail of 10 KB, with a webhook and a frame', MAILS, async (count) => {
    await receive(measured, count, USUAL_BYTES)
    await arrivals.count(count)
  })
}

/** Resolves when all of them are stored and their events published. */
async function receive({ system, inboxes, database }: Measured, count: number, bytes: number): Promise<void> {
  const senders = new SmtpSenders(system.endpoints.smtpPort, 'human@outside.example')
  const name = `${bytes}-${Date.now()}`
  await inParallel(count, SENDERS, async (at) => {
    await senders.send(inboxes[at % INBOXES] ?? '', `<${name}-${at}@outside.example>`, bytes)
  })
  await senders.stop()
  await waitFor(
    async () => {
      const { rows } = await database.query<{ done: boolean }>(
        `select (select count(*) from messages where header_id like $1) = $2
            and not exists (select from outbox where published_at is null) as done`,
        [`<${name}-%`, count],
      )
      return rows[0]?.done
    },
    { what: `${count} mails in their inboxes`, timeout: 300_000, interval: 50 },
  )
}

/** Resolves when all of them have left and their copies are labelled. */
async function send({ tenant, inboxes, database }: Measured, sink: SmtpSink, count: number): Promise<void> {
  const before = sink.mails.length
  await inParallel(count, SENDERS, async (at) => {
    const to = [`sent-${at}@outside.example`]
    await tenant.client.inboxes.messages.send(inboxes[at % INBOXES] ?? '', { to, subject: 'Bench', text: TEXT })
  })
  await waitFor(() => sink.mails.length >= before + count, { what: `${count} mails outside`, timeout: 300_000 })
  await waitFor(
    async () => {
      const { rows } = await database.query<{ count: number }>(
        "select count(*)::int as count from messages where direction = 'sent' and settled_at is not null",
      )
      return (rows[0]?.count ?? 0) >= count
    },
    { what: 'their outcomes', timeout: 60_000, interval: 50 },
  )
}

async function idleStreams({ context, system, tenant }: Measured): Promise<Figure[]> {
  const services = ['gateway', 'websocket-fanout'] as const
  const pids = services.map((name) => pidOf(system, name))
  const count = context.size(IDLE_STREAMS)
  context.say(`${count} idle streams ...`)
  const before = await Promise.all(pids.map(usageOf))
  for (let opened = 0; opened < count; opened++) {
    const stream = await openStream(system.endpoints, tenant.key, { event_types: ['message.opened'] })
    context.cleanUp({ stop: async () => stream.close() })
  }
  const after = await Promise.all(pids.map(usageOf))
  return services.map((name, at) => ({
    name: `idle stream: memory of ${name}`,
    value: (((after[at]?.residentMb ?? 0) - (before[at]?.residentMb ?? 0)) * 1_024) / count,
    unit: 'KB' as const,
  }))
}
