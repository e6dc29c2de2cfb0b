import { readEvents, readRecordedEvent, recordedBetween } from '../src/index.ts'
import { recordOf } from '../src/testing.ts'
import { letters, MessagingFixture, type Posted, posted, until } from './fixture.ts'

const GROUP = 'mail-ingest.letters'
const ALL = { records: 1_000, bytes: 1_000_000, ms: 20_000 }

describe('recorded events', () => {
  let fixture: MessagingFixture
  let handled = 0
  beforeAll(async () => {
    fixture = await MessagingFixture.open()
    await fixture.consumer({ handlers: { 'letter.posted': { effect: async () => void handled++ } } })
  })
  afterAll(() => fixture.close())

  async function publish(...events: Posted[]): Promise<void> {
    handled = 0
    const records = events.map(recordOf)
    await fixture.produce(
      letters.name,
      records.map(({ key, value, headers }) => ({
        key: key.toString(),
        value: value.toString(),
        headers: { ...headers },
      })),
    )
    await until(() => handled === events.length)
    await until(async () => {
      const committed = await fixture.committed(GROUP, letters.name)
      return (
        [...committed.values()].reduce((sum, offset) => sum + Math.max(0, offset), 0) ===
        (await fixture.count('letters'))
      )
    })
  }
  const between = (from: Date, to: Date) => recordedBetween(fixture.kafka, [letters], GROUP, { from, to })

  it('are read again one by one, byte for byte, at the place that the event names', async () => {
    const from = new Date()
    const events = Array.from({ length: 20 }, (_, number) => posted(`box ${number}`, number))
    await publish(...events)
    const ranges = await between(from, new Date(Date.now() + 60_000))
    const found = (await Promise.all(ranges.map((range) => readEvents(fixture.kafka, range, ALL)))).flatMap(
      (read) => read.events,
    )
    expect(found.map(({ id }) => id).toSorted()).toEqual(events.map(({ id }) => id).toSorted())
    const [some] = found
    if (!some) throw new Error('nothing was found')
    const again = await readRecordedEvent(fixture.kafka, some.position)
    expect(again).toEqual(some)
    expect(again?.value.toString()).toBe(JSON.stringify(events.find(({ id }) => id === some.id)?.payload))
  })

  it('are undefined beyond the end, and in a partition that does not exist', async () => {
    for (const place of [
      { partition: 0, offset: 1_000_000 },
      { partition: 99, offset: 0 },
    ])
      expect(await readRecordedEvent(fixture.kafka, { topic: letters.name, ...place })).toBeUndefined()
  })

  it('are read in parts where they exceed the limits, without a gap', async () => {
    const from = new Date()
    await publish(...Array.from({ length: 10 }, (_, number) => posted('one box', number)))
    const [range, ...others] = await between(from, new Date(Date.now() + 60_000))
    if (!range) throw new Error('nothing was found')
    expect(others).toEqual([])
    const numbers: unknown[] = []
    for (let offset = range.offset; offset < range.until; ) {
      const { events, next } = await readEvents(fixture.kafka, { ...range, offset }, { ...ALL, records: 4 })
      expect(events.length).toBeLessThanOrEqual(4)
      numbers.push(...events.map(({ value }) => JSON.parse(value.toString()).number))
      offset = next
    }
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('of a range end with what the group has processed, and begin with what reached Kafka since', async () => {
    await publish(posted('old', 1))
    const from = new Date()
    expect(await between(from, new Date(from.getTime() + 60_000))).toEqual([])
    const unknown = await recordedBetween(fixture.kafka, [letters], 'mail-ingest.nobody', {
      from: new Date(0),
      to: new Date(),
    })
    expect(unknown).toEqual([])
  })
})
