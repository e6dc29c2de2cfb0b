import { sql } from '@restante/service/database'
import { Consumer, Outbox, Relay } from '../../src/index.ts'
import { letters, MessagingFixture, posted, until } from '../fixture.ts'

const UNPUBLISHED = sql<{ count: number }>('select count(*)::int as count from outbox where published_at is null')
const LEADERS = sql<{ pid: number }>(`
select pid from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`)
const TERMINATE = sql<never, [pid: number]>('select pg_terminate_backend($1)')

/** Numbers per key, in the order in which a consumer saw them. */
async function watch(fixture: MessagingFixture): Promise<Map<string, number[]>> {
  const seen = new Map<string, number[]>()
  const consumer = new Consumer({
    kafka: fixture.connection('watcher'),
    db: fixture.db,
    service: 'mail-send',
    topic: letters,
    handlers: {
      'letter.posted': {
        effect: async (_tx, event) => {
          seen.set(event.key, [...(seen.get(event.key) ?? []), event.payload.number])
        },
      },
    },
  })
  await fixture.started(consumer)
  return seen
}

const total = (seen: Map<string, number[]>): number =>
  [...seen.values()].reduce((sum, numbers) => sum + numbers.length, 0)

describe('the relay', () => {
  let fixture: MessagingFixture
  beforeEach(async () => {
    fixture = await MessagingFixture.open()
  })
  afterEach(() => fixture.close())

  it('keeps the order within each key', async () => {
    const seen = await watch(fixture)
    await fixture.relay()
    for (let round = 0; round < 20; round++) {
      await fixture.post(
        ...['a', 'b', 'c', 'd', 'e'].flatMap((key) => [posted(key, round * 2), posted(key, round * 2 + 1)]),
      )
    }
    await until(() => total(seen) === 200)
    for (const numbers of seen.values()) expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
  })

  it('publishes an event whose transaction commits after events with higher positions', async () => {
    const seen = await watch(fixture)
    await fixture.relay()
    let commit: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      commit = resolve
    })
    let positionTaken: () => void = () => {}
    const taken = new Promise<void>((resolve) => {
      positionTaken = resolve
    })
    const late = fixture.db.transaction(async (tx) => {
      await fixture.outbox.add(tx, letters, posted('late', 1))
      positionTaken()
      await held
    })
    await taken
    await fixture.post(posted('early', 2))
    await until(() => seen.has('early'))
    expect(seen.has('late')).toBe(false)
    commit()
    await late
    await until(() => seen.has('late'))
  })

  it('has one leader; another process takes over when the leader loses its connection, and nothing is lost', async () => {
    const seen = await watch(fixture)
    const second = fixture.database()
    await fixture.relay()
    await fixture.relay(second, new Outbox({ db: second, service: 'mail-ingest' }))
    const [leader, ...others] = await until(async () => {
      const rows = await fixture.db.query(LEADERS)
      return rows.length > 0 && rows
    })
    expect(others).toEqual([])
    const posting = (async () => {
      for (let i = 0; i < 100; i++) await fixture.post(posted(`key-${i % 5}`, i))
    })()
    await until(() => total(seen) > 10)
    await fixture.db.query(TERMINATE, leader?.pid ?? 0)
    await posting
    await until(() => total(seen) === 100)
    await until(async () => (await fixture.db.query(UNPUBLISHED))[0]?.count === 0)
    const [successor] = await fixture.db.query(LEADERS)
    expect(successor?.pid).not.toBe(leader?.pid)
  })

  it('reports that it works again once it has regained leadership, though there is nothing to publish', async () => {
    const relay = await fixture.relay()
    const leads = (other?: number) =>
      until(async () => (await fixture.db.query(LEADERS)).map(({ pid }) => pid).find((pid) => pid !== other) ?? false)
    const pid = await leads()
    await fixture.db.query(TERMINATE, pid)
    await leads(pid)
    await until(() =>
      relay.working().then(
        () => true,
        () => false,
      ),
    )
  })

  it('publishes what other processes commit without waiting for its poll interval', async () => {
    const seen = await watch(fixture)
    const relay = new Relay({ kafka: fixture.kafka, db: fixture.db, outbox: fixture.outbox, pollMs: 600_000 })
    await fixture.started(relay)
    await until(async () => (await fixture.db.query(LEADERS)).length === 1)
    const elsewhere = fixture.database()
    const outbox = new Outbox({ db: elsewhere, service: 'mail-ingest' })
    // The first commit may come before the leader listens; from then on the notification wakes it.
    for (let i = 0; i < 5; i++) {
      await elsewhere.transaction((tx) => outbox.add(tx, letters, posted('box', i)))
      await until(() => total(seen) === i + 1)
    }
  })

  it('publishes committed events before it stops', async () => {
    const relay = await fixture.relay()
    await until(async () => (await fixture.db.query(LEADERS)).length === 1)
    await fixture.post(...Array.from({ length: 1_000 }, (_, i) => posted(`key-${i % 50}`, i)))
    await relay.stop()
    expect(await fixture.count('letters')).toBe(1_000)
    expect(await fixture.db.query(UNPUBLISHED)).toEqual([{ count: 0 }])
  })
})
