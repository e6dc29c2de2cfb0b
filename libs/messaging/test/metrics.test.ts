import { sql } from '@restante/service/database'
import { register } from 'prom-client'
import { DeadLetterBacklog } from '../src/index.ts'
import { MessagingFixture, posted, until } from './fixture.ts'

const GROUP = 'mail-ingest.letters'
const PARK = sql<never>(`update outbox set refused = 'too large'`)

async function metricOf(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
  const found = (await register.getSingleMetric(name)?.get())?.values ?? []
  return found.find((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))?.value
}

describe('the metrics of messaging', () => {
  let fixture: MessagingFixture
  beforeEach(async () => {
    fixture = await MessagingFixture.open()
  })
  afterEach(() => fixture.close())

  it('show a consumer as joined, with its lag in records while a handler is stuck, and zeros before the first event', async () => {
    const stuck = Promise.withResolvers<void>()
    const consumer = fixture.letterConsumer({ handlers: { 'letter.posted': { effect: () => stuck.promise } } })
    await consumer.start()
    fixture.onClose(() => consumer.stop())
    expect(await metricOf('restante_consumer_joined', { group: GROUP })).toBe(0)
    expect(await metricOf('restante_consumer_lag_records', { group: GROUP, topic: 'letters' })).toBe(0)
    for (const reason of ['invalid', 'failed'])
      expect(await metricOf('restante_consumer_dead_letters_total', { group: GROUP, reason })).toBeDefined()
    await until(async () => (await metricOf('restante_consumer_joined', { group: GROUP })) === 1)
    await fixture.relay()
    await fixture.post(posted('box', 1), posted('box', 2), posted('box', 3))
    const lag = () => metricOf('restante_consumer_lag_records', { group: GROUP, topic: 'letters' })
    await until(async () => (await lag()) === 3)
    stuck.resolve()
    await until(async () => (await lag()) === 0)
  })

  it('show the dead letters that are stored, and 0 for a group that has never had one', async () => {
    await fixture.relay()
    const fail = async () => {
      throw new RangeError('no')
    }
    await fixture.consumer({ attempts: 1, handlers: { 'letter.posted': { effect: fail } } })
    await fixture.post(posted('box', 1), posted('box', 2))
    await until(async () => (await fixture.count(`${GROUP}.dlq`)) === 2)
    const backlog = new DeadLetterBacklog(fixture.kafka, [GROUP, 'mail-ingest.none'])
    await backlog.start()
    await until(async () => (await metricOf('restante_dead_letters', { group: GROUP })) === 2)
    expect(await metricOf('restante_dead_letters', { group: 'mail-ingest.none' })).toBe(0)
    await backlog.stop()
  })

  it('show which relay leads and how many events are parked', async () => {
    await fixture.post(posted('box', 1))
    await fixture.db.query(PARK)
    const relay = await fixture.relay()
    await until(async () => (await metricOf('restante_outbox_leading')) === 1)
    await until(async () => (await metricOf('restante_outbox_parked_rows')) === 1)
    await relay.stop()
    expect([await metricOf('restante_outbox_leading'), await metricOf('restante_outbox_parked_rows')]).toEqual([0, 0])
  })
})
