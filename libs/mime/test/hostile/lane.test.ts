import { ParserCrashedError, ParserUnavailableError } from '../../src/index.ts'
import { ParserTimeoutError } from '../../src/worker/errors.ts'
import { Lane } from '../../src/worker/lane.ts'
import { LargeTurn } from '../../src/worker/large-turn.ts'
import type { Span } from './timed-thread.ts'

function laneOf(file: URL, standing = true): Lane<object, string, string> {
  return new Lane({
    file,
    received: (read: string) => read,
    threads: 1,
    standing,
    memoryMb: 64,
    idleMs: 1_000,
    limits: {},
    deadlineMs: () => 60_000,
    overdue: (ms) => new ParserTimeoutError(ms),
  })
}

describe('a thread', () => {
  it('that needs more memory than it may have dies, and the next mail is read', async () => {
    const lane = laneOf(new URL('./hungry-thread.ts', import.meta.url))
    const [first, second] = [lane.read(Buffer.from('hungry')), lane.read(Buffer.from('plain'))]
    await expect(first).rejects.toThrow(ParserCrashedError)
    await expect(second).resolves.toBe('plain')
    await lane.close()
  })

  it.each([
    ['kept ready', true],
    ['started with the first mail', false],
  ])('that cannot start is no defect of the mail, when it is %s', async (_, standing) => {
    const lane = laneOf(new URL('data:text/javascript,throw new Error("no parser")'), standing)
    for (const mail of ['first', 'second']) {
      await expect(lane.read(Buffer.from(mail))).rejects.toThrow(ParserUnavailableError)
    }
    await lane.close()
  })
})

describe('large mails of lanes with one turn', () => {
  const LARGE = 2 * 1024 * 1024
  let lanes: Lane<object, Span, Span>[]

  beforeEach(() => {
    const largeTurn = new LargeTurn()
    lanes = [1, 2].map(
      () =>
        new Lane({
          file: new URL('./timed-thread.ts', import.meta.url),
          received: (read: Span) => read,
          threads: 2,
          standing: false,
          memoryMb: 64,
          largeTurn,
          idleMs: 60_000,
          limits: {},
          deadlineMs: () => 60_000,
          overdue: (ms) => new ParserTimeoutError(ms),
        }),
    )
  })
  afterEach(() => Promise.all(lanes.map((lane) => lane.close())))

  const readEach = (bytes: Buffer) => lanes.map((lane) => lane.read(bytes))

  it('are read one after the other, also when one ends its thread', async () => {
    const [large, deadly] = [Buffer.alloc(LARGE, 'x'), Buffer.alloc(LARGE, 'd')]
    const outcomes = await Promise.allSettled([large, deadly, large].flatMap(readEach))
    const spans = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(spans).toHaveLength(4)
    const ordered = spans.toSorted((a, b) => a.begin - b.begin)
    expect(ordered.slice(1).every(({ begin }, at) => begin >= (ordered[at]?.end ?? Number.NaN))).toBe(true)
  })

  it('hold up no small ones', async () => {
    const ended: string[] = []
    const note = (name: string) => () => void ended.push(name)
    const large = Array.from({ length: 3 }, () => readEach(Buffer.alloc(LARGE)).map((each) => each.then(note('large'))))
    const small = readEach(Buffer.from('small')).map((each) => each.then(note('small')))
    await Promise.all([...large.flat(), ...small])
    expect(ended.slice(-3)).toEqual(['large', 'large', 'large'])
  })

  it('wait no longer when their lane is closed', async () => {
    const unread = readEach(Buffer.alloc(LARGE)).map((each) => expect(each).rejects.toThrow(ParserUnavailableError))
    await Promise.all(lanes.map((lane) => lane.close()))
    await Promise.all(unread)
    expect(lanes.map(({ threads }) => threads)).toEqual([0, 0])
  })
})
