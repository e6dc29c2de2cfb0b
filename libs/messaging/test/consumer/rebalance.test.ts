import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { Consumer, ensureTopics } from '../../src/index.ts'
import {
  ADD_EFFECT,
  type LetterConsumerOptions,
  letters as letterTopic,
  MessagingFixture,
  posted,
  until,
} from '../fixture.ts'

const GROUP = 'mail-ingest.letters'

/** Effects that record who applied them and take a while, so that a rebalance finds work in progress. */
function slowly(ms: number, by: string): LetterConsumerOptions['handlers'] {
  return {
    'letter.posted': {
      effect: async (tx, event) => {
        await new Promise((resolve) => setTimeout(resolve, ms))
        await tx.query(ADD_EFFECT, event.key, event.payload.number, by)
      },
    },
  }
}

const letters = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => posted(`box-${(from + i) % 20}`, from + i))

/** Posts more letters, after the first `count`, until two consumers have had an effect. @returns how many there are. */
async function postUntilBoth(fixture: MessagingFixture, count: number): Promise<number> {
  let posted = count
  await until(async () => {
    if (new Set((await fixture.effects()).map(({ text }) => text)).size === 2) return true
    await fixture.post(...letters(20, posted))
    posted += 20
    return false
  })
  return posted
}

async function expectEachOnce(fixture: MessagingFixture, count: number): Promise<void> {
  await until(async () => (await fixture.effects()).length >= count)
  const numbers = (await fixture.effects()).map(({ number }) => number).sort((a, b) => a - b)
  expect(numbers).toEqual(Array.from({ length: count }, (_, i) => i))
}

describe('a group of consumers', () => {
  let fixture: MessagingFixture
  beforeEach(async () => {
    fixture = await MessagingFixture.open()
    await fixture.relay()
  })
  afterEach(() => fixture.close())

  it('shares the partitions when a second one joins, loses nothing and applies nothing twice', async () => {
    await fixture.consumer({ handlers: slowly(10, 'first') })
    await fixture.post(...letters(400))
    await until(async () => (await fixture.effects()).length > 20)
    await fixture.consumer({ handlers: slowly(10, 'second'), db: fixture.database() })
    const count = await postUntilBoth(fixture, 400)
    await expectEachOnce(fixture, count)
    await until(
      async () => [...(await fixture.committed(GROUP, 'letters')).values()].reduce((a, b) => a + b, 0) === count,
    )
  })

  it('keeps the order of every key across a rebalance, because work in progress ends under its old owner', async () => {
    await fixture.consumer({ handlers: slowly(15, 'first') })
    await fixture.post(...letters(200))
    await until(async () => (await fixture.effects()).length > 20)
    const second = await fixture.consumer({ handlers: slowly(15, 'second'), db: fixture.database() })
    const count = await postUntilBoth(fixture, 200)
    await second.stop()
    await expectEachOnce(fixture, count)
    const byKey = Map.groupBy(await fixture.effects(), ({ key }) => key)
    for (const effects of byKey.values()) {
      const numbers = effects.map(({ number }) => number)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    }
  })

  it('does not commit offsets for work that takes longer than the drain of a revoked partition', async () => {
    let open: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      open = resolve
    })
    let holds = 0
    await fixture.consumer({
      drainMs: 200,
      handlers: {
        'letter.posted': {
          prepare: async (event) => {
            holds++
            await held
            return async (tx) => {
              await tx.query(ADD_EFFECT, event.key, event.payload.number, 'late')
            }
          },
        },
      },
    })
    await fixture.post(...letters(20))
    await until(() => holds > 0)
    await fixture.consumer({ handlers: slowly(1, 'second'), db: fixture.database() })
    // The second one owns some partitions now and processes their letters; the first one is still busy with the same
    // letters.
    const done = await until(async () => {
      const effects = await fixture.effects()
      return effects.length > 0 && effects.length
    })
    expect(done).toBeLessThan(20)
    open()
    await expectEachOnce(fixture, 20)
    await until(async () => [...(await fixture.committed(GROUP, 'letters')).values()].reduce((a, b) => a + b, 0) === 20)
  })

  it('waits for a topic that does not exist yet', async () => {
    const notYet = { ...letterTopic, name: 'not-yet' }
    const { kafka, db } = fixture
    const waiting = new Consumer({ kafka, db, service: 'mail-send', topic: notYet, handlers: {} })
    await waiting.start()
    fixture.onClose(() => waiting.stop())
    await expect(waiting.working()).rejects.toThrow('has not joined')
    await ensureTopics(kafka, [notYet])
    await until(() =>
      waiting.working().then(
        () => true,
        () => false,
      ),
    )
  })
})

describe('when a process was killed between effect and commit', () => {
  let fixture: MessagingFixture
  beforeAll(async () => {
    fixture = await MessagingFixture.open()
    await fixture.relay()
    await fixture.post(posted('box', 0))
    const script = path.join(import.meta.dirname, 'crashing-consumer.ts')
    const child = spawn(process.execPath, [script, fixture.databaseUrl, fixture.prefix], { stdio: 'inherit' })
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGKILL')
  })
  afterAll(() => fixture.close())

  it('a consumer stops at once while its group still waits for the dead member', async () => {
    const { kafka, db } = fixture
    const joining = new Consumer({ kafka, db, service: 'mail-ingest', topic: letterTopic, handlers: {} })
    await joining.start()
    await expect(joining.working()).rejects.toThrow('has not joined')
    // The dead member's session lasts 12 s; a stop that waited for it would not end before.
    const stoppedFirst = await Promise.race([
      joining.stop().then(() => true),
      once(AbortSignal.timeout(10_000), 'abort').then(() => false),
    ])
    expect(stoppedFirst).toBe(true)
  })

  it('its work is handed to another, which recognises it by its mark', async () => {
    expect([...(await fixture.committed(GROUP, 'letters')).values()].every((offset) => offset <= 0)).toBe(true)
    await fixture.consumer({ handlers: slowly(1, 'survivor') })
    await fixture.post(posted('box', 1))
    await expectEachOnce(fixture, 2)
    expect((await fixture.effects()).map(({ text }) => text)).toEqual(['by the process that died', 'survivor'])
  })
})
