import path from 'node:path'
import { topics } from '@restante/contracts/events'
import { root } from '@restante/local/settings.ts'
import { Outbox } from '@restante/messaging'
import { Database } from '@restante/service/database'
import { createDatabase, createTopics, inboxScope, receivedEvent } from '@restante/testkit'
import { z } from 'zod'
import type { Bench, BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { Program } from '../../programs/program.ts'

const EVENTS = 20_000
/** Text of a usual length. */
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(40)
const COMMIT = 100

export const consumer: Bench = {
  name: 'consumer',
  about: 'events a second from outbox to Kafka and from Kafka to marks, compared with bare kafkajs',
  async run(context) {
    return [...(await measure(context, 'many keys', 200)), ...(await measure(context, 'one key', 1))]
  },
}

/** Fills an outbox, publishes it in both modes and consumes it in all three. */
async function measure(context: BenchContext, name: string, keys: number): Promise<Figure[]> {
  const events = context.size(EVENTS)
  const [database, published, produced] = await Promise.all([
    createDatabase(path.join(root, 'services/mail-ingest')),
    createTopics([topics['mail.messages']]),
    createTopics([topics['mail.messages']]),
  ])
  for (const made of [published, produced]) context.cleanUp({ stop: () => made.delete() })
  context.cleanUp({ stop: () => database.drop() })
  context.say(`${events} events with ${name} ...`)
  await fill(database.url, events, keys)
  const common = { database: database.url, prefix: published.prefix, events }
  const bareProducer = await run(context, 'relaying', { ...common, prefix: produced.prefix, mode: 'bare' })
  const relay = await run(context, 'relaying', { ...common, mode: 'relay' })
  const bare = await run(context, 'consuming', { ...common, mode: 'bare' })
  const marks = await run(context, 'consuming', { ...common, mode: 'marks' })
  const batches = await run(context, 'consuming', { ...common, mode: 'batches' })
  const compare = (what: string, ours: Outcome, theirs: Outcome): Figure[] => [
    {
      name: `${what}, ${name}`,
      value: events / ours.seconds,
      unit: '/s',
      reference: { what: 'bare kafkajs', value: events / theirs.seconds },
    },
    {
      name: `CPU of ${what}, ${name}`,
      value: (ours.cpuMs * 1000) / events,
      unit: 'µs',
      reference: { what: 'bare kafkajs', value: (theirs.cpuMs * 1000) / events },
    },
  ]
  return [
    ...compare('outbox to Kafka', relay, bareProducer),
    ...compare('Kafka to marks, one per transaction', marks, bare),
    ...compare('Kafka to marks, in batches', batches, bare),
  ]
}

async function fill(database: string, events: number, keys: number): Promise<void> {
  const db = new Database({ url: database, applicationName: 'bench' })
  const outbox = new Outbox({ db, service: 'mail-ingest' })
  const scopes = Array.from({ length: keys }, () => inboxScope())
  for (let at = 0; at < events; at += COMMIT) {
    const batch = Array.from({ length: Math.min(COMMIT, events - at) }, (_, index) => {
      const scope = scopes[(at + index) % keys]
      if (!scope) throw new Error('there are no keys')
      return receivedEvent(scope, { text: TEXT })
    })
    await db.transaction((tx) => outbox.addAll(tx, topics['mail.messages'], batch))
  }
  await db.stop()
}

const outcome = z.object({ seconds: z.number(), cpuMs: z.number() })
type Outcome = z.infer<typeof outcome>

async function run(context: BenchContext, program: string, input: object): Promise<Outcome> {
  const child = Program.start(program, input, context.nodeArguments('messaging'))
  try {
    return await child.next(outcome)
  } finally {
    await child.stop()
  }
}
