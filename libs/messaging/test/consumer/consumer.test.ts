import { type Statement, sql, sqlUnprepared } from '@restante/service/database'
import { UpstreamError } from '@restante/service/errors'
import { type BatchHandler, Consumer, decodeEvent } from '../../src/index.ts'
import { encodeHeaders } from '../../src/kafka/envelope.ts'
import { sweepMarks } from '../../src/processing/marks.ts'
import { deliverTwiceAndSwapped } from '../../src/testing.ts'
import { ADD_EFFECT, type LetterConsumerOptions, letters, MessagingFixture, posted, until } from '../fixture.ts'

/** The simplest handler: one row for each effect, so that a second one would show. */
const writeDown: LetterConsumerOptions['handlers'] = {
  'letter.posted': {
    effect: async (tx, event) => {
      await tx.query(ADD_EFFECT, event.key, event.payload.number, event.payload.text)
    },
  },
}

const GROUP = 'mail-ingest.letters'
const MARKS = sql<{ event_id: string }>('select event_id from consumed')

describe('a consumer', () => {
  let fixture: MessagingFixture
  beforeEach(async () => {
    fixture = await MessagingFixture.open()
    await fixture.relay()
  })
  afterEach(() => fixture.close())

  it('applies an event once, however often the record arrives', async () => {
    await fixture.consumer({ handlers: writeDown })
    const event = posted('box', 1)
    const record = {
      key: event.key,
      value: JSON.stringify(event.payload),
      headers: { ...encodeHeaders('/restante/test', event) },
    }
    await fixture.produce('letters', [record, record, record])
    await fixture.post(posted('box', 2))
    await until(async () => (await fixture.effects()).some(({ number }) => number === 2))
    expect((await fixture.effects()).map(({ number }) => number)).toEqual([1, 2])
  })

  it('applies events that arrive twice and in the wrong order once each', async () => {
    const consumer = fixture.letterConsumer({ handlers: writeDown })
    await deliverTwiceAndSwapped(consumer, posted('box', 1), posted('box', 2))
    expect((await fixture.effects()).map(({ number }) => number)).toEqual([2, 1])
  })

  it('leaves neither effect nor mark when the handler fails after writing', async () => {
    let failures = 0
    await fixture.consumer({
      handlers: {
        'letter.posted': {
          effect: async (tx, event) => {
            await tx.query(ADD_EFFECT, event.key, event.payload.number, '')
            if (failures++ < 2) throw new Error('not yet')
          },
        },
      },
    })
    await fixture.post(posted('box', 1))
    await until(async () => (await fixture.effects()).length > 0)
    expect(await fixture.effects()).toHaveLength(1)
    expect(failures).toBe(3)
    expect(await fixture.count(`${GROUP}.dlq`)).toBe(0)
  })

  it('prepares outside the transaction and writes what was prepared inside it', async () => {
    await fixture.consumer({
      handlers: {
        'letter.posted': {
          prepare: async (event) => {
            if (event.payload.number === 1) return undefined
            return async (tx) => {
              await tx.query(ADD_EFFECT, event.key, event.payload.number, 'prepared')
            }
          },
        },
      },
    })
    await fixture.post(posted('box', 1), posted('box', 2))
    await until(async () => (await fixture.db.query(MARKS)).length === 2)
    expect(await fixture.effects()).toEqual([{ key: 'box', number: 2, text: 'prepared' }])
  })

  it('skips types without a handler, and commits past them', async () => {
    await fixture.consumer({ handlers: { 'letter.read': { effect: async () => {} } } })
    await fixture.post(posted('box', 1))
    await until(async () => [...(await fixture.committed(GROUP, 'letters')).values()].some((offset) => offset === 1))
    expect(await fixture.db.query(MARKS)).toEqual([])
  })

  it('processes the keys of a partition concurrently and each key in order', async () => {
    let open: () => void = () => {}
    const slow = new Promise<void>((resolve) => {
      open = resolve
    })
    await fixture.consumer({
      handlers: {
        'letter.posted': {
          effect: async (tx, event) => {
            if (event.key === 'slow') await slow
            await tx.query(ADD_EFFECT, event.key, event.payload.number, '')
          },
        },
      },
    })
    await fixture.post(
      posted('slow', 1),
      posted('slow', 2),
      ...Array.from({ length: 40 }, (_, i) => posted(`k${i}`, i)),
    )
    await until(async () => (await fixture.effects()).length === 40)
    open()
    await until(async () => (await fixture.effects()).length === 42)
    const ofSlow = (await fixture.effects()).filter(({ key }) => key === 'slow')
    expect(ofSlow.map(({ number }) => number)).toEqual([1, 2])
  })

  it('commits the lowest unfinished offset and nothing beyond it', async () => {
    let open: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      open = resolve
    })
    await fixture.consumer({
      handlers: {
        'letter.posted': {
          effect: async (tx, event) => {
            if (event.key === 'held') await held
            await tx.query(ADD_EFFECT, event.key, event.payload.number, '')
          },
        },
      },
    })
    const sum = (offsets: Map<number, number>) =>
      [...offsets.values()].reduce((total, offset) => total + Math.max(offset, 0), 0)
    await fixture.post(posted('held', 1), ...Array.from({ length: 30 }, (_, i) => posted(`k${i}`, i)))
    await until(async () => (await fixture.effects()).length === 30)
    const offsets = await until(async () => {
      const found = await fixture.committed(GROUP, 'letters')
      return sum(found) > 0 && found
    })
    // The partition of the blocked letter stays before it, though later letters of that partition are done.
    expect(Math.min(...offsets.values())).toBeLessThanOrEqual(0)
    expect(sum(offsets)).toBeLessThan(30)
    open()
    await until(async () => sum(await fixture.committed(GROUP, 'letters')) === 31)
  })

  it('pauses a partition whose queues are full, and resumes when there is room', async () => {
    let open: () => void = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    let begun = 0
    const before = await fixture.consumer({
      inFlight: 10,
      concurrency: 2,
      handlers: {
        'letter.posted': {
          effect: async (tx, event) => {
            begun++
            await gate
            await tx.query(ADD_EFFECT, event.key, event.payload.number, '')
          },
        },
      },
    })
    const rounds = 30
    for (let i = 0; i < rounds; i++)
      await fixture.post(...Array.from({ length: 10 }, (_, j) => posted('one-box', i * 10 + j)))
    await until(async () => (await metric('restante_consumer_paused_partitions')) === 1)
    await before.working()
    await until(async () => begun === 1)
    open()
    await until(async () => (await fixture.effects()).length === rounds * 10)
    expect((await fixture.effects()).map(({ number }) => number)).toEqual(
      Array.from({ length: rounds * 10 }, (_, i) => i),
    )
    expect(await metric('restante_consumer_paused_partitions')).toBe(0)
  })

  it('retries an infrastructure failure without limit and without a dead letter', async () => {
    let attempts = 0
    await fixture.consumer({
      attempts: 2,
      handlers: {
        'letter.posted': {
          effect: async (tx, event) => {
            if (++attempts <= 12) throw new UpstreamError('a service is unavailable', { status: 503 })
            await tx.query(ADD_EFFECT, event.key, event.payload.number, '')
          },
        },
      },
    })
    await fixture.post(posted('box', 1))
    await until(async () => (await fixture.effects()).length === 1)
    expect(attempts).toBe(13)
    expect(await fixture.count(`${GROUP}.dlq`)).toBe(0)
  })

  it('applies every event once although PostgreSQL drops its connections repeatedly', async () => {
    const db = fixture.database()
    await fixture.consumer({ handlers: writeDown, db })
    const drop = sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like '%insert into effects%'`)
    for (let i = 0; i < 200; i += 20) {
      await fixture.post(...Array.from({ length: 20 }, (_, j) => posted(`box-${j}`, i + j)))
      await fixture.db.query(drop)
    }
    await until(async () => (await fixture.effects()).length >= 200)
    const numbers = (await fixture.effects()).map(({ number }) => number).toSorted((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, i) => i))
    expect(await fixture.count(`${GROUP}.dlq`)).toBe(0)
  })

  it('handles many events in one transaction, each once, and isolates the one that makes a batch fail', async () => {
    const sizes: number[] = []
    const batch = new Consumer({
      kafka: fixture.kafka,
      db: fixture.db,
      service: 'webhooks-dispatcher',
      topic: letters,
      attempts: 2,
      batch: {
        effectMany: async (tx, events) => {
          sizes.push(events.length)
          for (const recorded of events) {
            const event = decodeEvent(letters, recorded)
            if (event.type !== 'letter.posted') continue
            if (event.payload.number === 13) throw new Error('unlucky')
            await tx.query(ADD_EFFECT, event.key, event.payload.number, '')
          }
        },
      },
    })
    await fixture.post(...Array.from({ length: 60 }, (_, i) => posted('one-box', i)))
    await until(async () => (await fixture.count('letters')) === 60)
    await fixture.started(batch)
    await until(async () => (await fixture.effects()).length === 59)
    await until(async () => (await fixture.count('webhooks-dispatcher.letters.dlq')) === 1)
    expect((await fixture.effects()).map(({ number }) => number)).toEqual(
      Array.from({ length: 60 }, (_, i) => i).filter((i) => i !== 13),
    )
    expect(Math.max(...sizes)).toBeGreaterThan(10)
  })

  describe('that takes too long as a batch', () => {
    const EVENTS = 20
    const everyNumber = Array.from({ length: EVENTS }, (_, i) => i)
    const numbers = async () => (await fixture.effects()).map(({ number }) => number)

    /** Starts a consumer that runs a statement for the numbers of each batch before it writes them down. */
    async function startWith(timeouts: string, before: Statement<unknown, [numbers: readonly number[]]>) {
      const sizes: number[] = []
      const effectMany: BatchHandler['effectMany'] = async (tx, events) => {
        const posted = events.map((event) => decodeEvent(letters, event)).filter(({ type }) => type === 'letter.posted')
        sizes.push(posted.length)
        // One that does not take long by itself has all the time that it needs.
        if (posted.length > 1 || posted[0]?.payload.number === 13) await tx.query(sqlUnprepared(timeouts))
        await tx.query(
          before,
          posted.map(({ payload }) => payload.number),
        )
        for (const { key, payload } of posted) await tx.query(ADD_EFFECT, key, payload.number, '')
      }
      const { kafka, db } = fixture
      const batch = { effectMany }
      await fixture.post(...everyNumber.map((number) => posted('one-box', number)))
      await until(async () => (await fixture.count('letters')) === EVENTS)
      await fixture.started(
        new Consumer({ kafka, db, service: 'webhooks-dispatcher', topic: letters, attempts: 2, batch }),
      )
      return sizes
    }

    it('handles its events one by one', async () => {
      const slow = sql<unknown, [numbers: readonly number[]]>('select pg_sleep(0.1) from unnest($1::int[]) as number')
      const sizes = await startWith(`set local statement_timeout = '1s'`, slow)
      await until(async () => (await numbers()).length === EVENTS)
      expect(await numbers()).toEqual(everyNumber)
      expect(Math.max(...sizes)).toBeGreaterThan(10)
    })

    it('gives up the one whose statement takes too long, since the database answers others', async () => {
      const endless = sql<unknown, [numbers: readonly number[]]>(
        'select pg_sleep(60) from unnest($1::int[]) as number where number = 13',
      )
      await startWith(`set local statement_timeout = '200ms'`, endless)
      await until(async () => (await numbers()).length === EVENTS - 1)
      await until(async () => (await fixture.count('webhooks-dispatcher.letters.dlq')) === 1)
      expect(await numbers()).toEqual(everyNumber.filter((number) => number !== 13))
    })

    it('lets none before the one wait whose lock is held', async () => {
      await fixture.db.query(sqlUnprepared('create table held (number int primary key)'))
      await fixture.db.query(sqlUnprepared('insert into held values (13)'))
      const lock = sql<unknown, [numbers: readonly number[]]>(
        'select from held where number = any($1::int[]) for update',
      )
      await fixture.db.transaction(async (tx) => {
        await tx.query(lock, [13])
        await startWith(`set local lock_timeout = '200ms'`, lock)
        await until(async () => (await numbers()).length === 13)
      })
      await until(async () => (await numbers()).length === EVENTS)
      expect(await numbers()).toEqual(everyNumber)
    })
  })
})

describe('marks', () => {
  it('are removed after 21 days and not before', async () => {
    const fixture = await MessagingFixture.open([])
    try {
      const insert = sql<never, [id: string, age: string]>(
        `insert into consumed (consumer, event_id, consumed_at) values ('c', $1, now() - $2::interval)`,
      )
      await fixture.db.query(insert, 'old', '22 days')
      await fixture.db.query(insert, 'young', '20 days')
      expect(await sweepMarks(fixture.db, new AbortController().signal)).toBe(1)
      expect(await fixture.db.query(MARKS)).toEqual([{ event_id: 'young' }])
    } finally {
      await fixture.close()
    }
  })
})

async function metric(name: string): Promise<number> {
  const { register } = await import('prom-client')
  const found = await register.getSingleMetric(name)?.get()
  return found?.values[0]?.value ?? 0
}
