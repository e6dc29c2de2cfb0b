import { topics } from '@restante/contracts/events'
import { createTopics, waitFor } from '@restante/testkit'
import { atRate } from '../../support/open-loop.ts'
import type { BenchContext } from '../harness/bench.ts'

/**
 * Measures one hop over Kafka without our code: from the time before a record is sent, with confirmation by all
 * replicas, until a consumer has it. An event takes such a hop between the stored mail and the stream.
 * @returns milliseconds of each record.
 */
export async function kafkaRoundTrips(context: BenchContext, perSecond: number, records: number): Promise<number[]> {
  const definition = topics['mail.inbound']
  const { kafka, prefix, delete: forget } = await createTopics([definition])
  context.cleanUp({ stop: () => forget() })
  const topic = kafka.physical(definition.name)
  const [producer, consumer] = [kafka.producer(), kafka.consumer({ groupId: `${prefix}bench`, maxWaitTimeInMs: 50 })]
  const sent = new Map<string, number>()
  const took: number[] = []
  await Promise.all([producer.connect(), consumer.connect()])
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }) => {
      took.push(performance.now() - (sent.get(message.key?.toString() ?? '') ?? Number.NaN))
    },
  })
  const send = async (key: string) => {
    sent.set(key, performance.now())
    await producer.send({ topic, acks: -1, messages: [{ key, value: 'x'.repeat(2_000) }] })
  }
  await send('the first, which waits for the group')
  await waitFor(() => took.length === 1, { what: 'the first record', timeout: 30_000 })
  took.length = 0
  await atRate(perSecond, records, (index) => send(String(index)))
  await waitFor(() => took.length === records, { what: 'the last record', timeout: 30_000 })
  await Promise.all([producer.disconnect(), consumer.disconnect()])
  return took
}
