/**
 * Reads a topic to its end in a group of its own: with the consumer of the services, whose only effect here is the mark
 * of the event, or with bare kafkajs, which processes no record.
 */
import { topics } from '@restante/contracts/events'
import { Consumer } from '@restante/messaging'
import { Database } from '@restante/service/database'
import { testKafka, waitFor } from '@restante/testkit'
import { z } from 'zod'
import { inputOf, reportToParent, startClock } from './parent.ts'

const { prefix, database, events, mode } = inputOf(
  z.object({ prefix: z.string(), database: z.url(), events: z.int(), mode: z.enum(['marks', 'batches', 'bare']) }),
)
const topic = topics['mail.messages']
const kafka = testKafka(prefix)
let seen = 0
const done = Promise.withResolvers<void>()

function count(more: number): void {
  seen += more
  if (seen >= events) done.resolve()
}

/** Resolves when the group is joined, which is not measured. */
async function readBare(): Promise<void> {
  const consumer = kafka.consumer({ groupId: `${prefix}bare` })
  const joined = new Promise<void>((resolve) => consumer.on(consumer.events.GROUP_JOIN, () => resolve()))
  await consumer.connect()
  await consumer.subscribe({ topic: kafka.physical(topic.name), fromBeginning: true })
  await consumer.run({ eachBatch: async ({ batch }) => count(batch.messages.length) })
  await joined
}

async function readOurs(): Promise<void> {
  const common = { kafka, db: new Database({ url: database, applicationName: 'bench' }), topic }
  const effect = async () => count(1)
  const effectMany = async (_tx: object, { length }: { length: number }) => count(length)
  const consumer =
    mode === 'batches'
      ? new Consumer({ ...common, service: 'websocket-fanout', batch: { effectMany } })
      : new Consumer({ ...common, service: 'mail-ingest', handlers: { 'message.received': { effect } } })
  await consumer.start()
  const joined = () => consumer.working().then(() => true)
  await waitFor(joined, { what: 'the group', timeout: 60_000, interval: 5 })
}

await (mode === 'bare' ? readBare() : readOurs())
const clock = startClock()
await done.promise
reportToParent(clock())
