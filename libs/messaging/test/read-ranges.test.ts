import { heldRecords, type RangeRecords, type RecordRange, readRanges } from '../src/index.ts'
import { letters, MessagingFixture, until } from './fixture.ts'

const notes = { ...letters, name: 'notes' }
const TOPICS = [letters, notes]
/** Partitions of each topic. */
const PARTITIONS = [0, 1, 2]

describe('ranges of records', () => {
  let fixture: MessagingFixture
  beforeEach(async () => {
    fixture = await MessagingFixture.open(TOPICS)
    const isThere = () =>
      held().then(
        () => true,
        () => false,
      )
    await until(isThere)
  })
  afterEach(() => fixture.close())

  /** Writes so many records to each partition: their values are the topic, the partition and the offset. */
  async function write(count: number, partitions: readonly number[] = PARTITIONS): Promise<void> {
    const producer = fixture.kafka.producer()
    await producer.connect()
    for (const { name } of TOPICS) {
      const messages = partitions.flatMap((partition) =>
        Array.from({ length: count }, () => ({ partition, value: 'a record' })),
      )
      await producer.send({ topic: fixture.kafka.physical(name), messages })
    }
    await producer.disconnect()
  }

  /** Deletes the records of a partition before an offset, as retention does. */
  async function forget({ topic, partition }: RecordRange, offset: number): Promise<void> {
    const name = fixture.kafka.physical(topic)
    await fixture.kafka.administrate(async (admin) => {
      // It loads what kafkajs has to know of the topic before it deletes.
      await admin.fetchTopicOffsets(name)
      await admin.deleteTopicRecords({ topic: name, partitions: [{ partition, offset: String(offset) }] })
    })
  }

  /** The range of the first partition of letters. */
  function lettersIn(ranges: readonly RecordRange[]): RecordRange {
    const found = ranges.find(({ topic, partition }) => topic === letters.name && partition === 0)
    if (found === undefined) throw new Error('there is no range of letters')
    return found
  }

  const held = () => heldRecords(fixture.kafka, TOPICS)

  async function read(
    ranges: readonly RecordRange[],
    { together = 100, stopping = new AbortController().signal }: { together?: number; stopping?: AbortSignal } = {},
    after: (taken: RangeRecords) => void = () => {},
  ): Promise<RangeRecords[]> {
    const all: RangeRecords[] = []
    const take = async (taken: RangeRecords) => {
      all.push(taken)
      after(taken)
    }
    await readRanges(fixture.kafka, ranges, { take, together, stopping })
    return all
  }

  /** The offsets that were taken of each partition, in that order. */
  function offsets(taken: readonly RangeRecords[]): Record<string, number[]> {
    const of: Record<string, number[]> = {}
    for (const { range, records } of taken) {
      const name = `${range.topic}/${range.partition}`
      of[name] = [...(of[name] ?? []), ...records.map(({ offset }) => offset)]
    }
    return of
  }

  const numbers = (from: number, until: number) => Array.from({ length: until - from }, (_, index) => from + index)
  const everywhere = (expected: readonly number[]) =>
    Object.fromEntries(TOPICS.flatMap(({ name }) => PARTITIONS.map((partition) => [`${name}/${partition}`, expected])))

  it('of several topics and partitions are read once and in order, without what follows them', async () => {
    await write(50)
    const ranges = (await held()).map((range) => ({ ...range, offset: 5 }))
    await write(10)
    const taken = await read(ranges, { together: 20 })
    expect(offsets(taken)).toEqual(everywhere(numbers(5, 50)))
    expect(Math.max(...taken.map(({ records }) => records.length))).toBeLessThanOrEqual(20)
    expect(taken.every(({ lostBefore }) => lostBefore === undefined)).toBe(true)
  })

  it('are given with the offset at which to go on, and read on from there', async () => {
    await write(30)
    const ranges = await held()
    const stopping = new AbortController()
    const first = await read(ranges, { together: 10, stopping: stopping.signal }, () => stopping.abort())
    const next = new Map(first.map(({ range, next: on }) => [`${range.topic}/${range.partition}`, on]))
    const left = ranges.map((range) => ({ ...range, offset: next.get(`${range.topic}/${range.partition}`) ?? 0 }))
    expect(left.some(({ offset, until }) => offset < until)).toBe(true)
    const then = await read(left)
    expect(offsets([...first, ...then])).toEqual(everywhere(numbers(0, 30)))
    for (const { range, records, next: on } of [...first, ...then]) expect(on).toBe(range.offset + records.length)
  })

  it('of an empty topic have nothing to read, alone or beside others', async () => {
    expect(await read(await held())).toEqual([])
    await write(3, [1])
    expect(offsets(await read(await held()))).toEqual({ 'letters/1': [0, 1, 2], 'notes/1': [0, 1, 2] })
  })

  it('whose first records were deleted by retention are read from the first that is left, with the time before which some are lost', async () => {
    await write(20)
    const ranges = await held()
    const range = lettersIn(ranges)
    await forget(range, 12)
    const taken = await read(ranges)
    expect(offsets(taken)).toEqual({ ...everywhere(numbers(0, 20)), 'letters/0': numbers(12, 20) })
    const lost = taken.filter(({ lostBefore }) => lostBefore !== undefined)
    expect(lost.map((one) => [one.range, one.lostBefore?.getTime()])).toEqual([[range, lost[0]?.records[0]?.timestamp]])
  })

  it.each(['and others follow', 'and none follow'])('that were deleted by retention end, %s', async (others) => {
    await write(20)
    const ranges = await held()
    const range = lettersIn(ranges)
    if (others === 'and others follow') await write(5)
    await forget(range, 20)
    const taken = await read(ranges)
    expect(offsets(taken)).toEqual({ ...everywhere(numbers(0, 20)), 'letters/0': [] })
    const lost = taken.filter(({ lostBefore }) => lostBefore !== undefined)
    expect(lost.map((one) => [one.range, one.next, one.records])).toEqual([[range, 20, []]])
  })

  it('are read no further when what takes them fails, and leave no consumer group', async () => {
    await write(5)
    const reading = read(await held(), { together: 1 }, () => {
      throw new Error('the database is full')
    })
    await expect(reading).rejects.toThrow('the database is full')
    const { groups } = await fixture.kafka.administrate((admin) => admin.listGroups())
    expect(groups.filter(({ groupId }) => groupId.startsWith(fixture.prefix))).toEqual([])
  })
})
