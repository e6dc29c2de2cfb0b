import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { TopicDefinition } from '@restante/contracts/events'
import { type Database, sql } from '@restante/service/database'
import { z } from 'zod'
import { Outbox, Projection, type ProjectionStore, type SnapshotPage } from '../../src/index.ts'
import { deliverTwiceAndSwapped } from '../../src/testing.ts'
import { MessagingFixture, until } from '../fixture.ts'

const box = z.object({ name: z.string(), version: z.int(), colour: z.string() })
type Box = z.infer<typeof box>

const boxes = {
  name: 'boxes',
  producer: 'gateway',
  key: 'name',
  partitions: 1,
  retentionMs: 3_600_000,
  summary: 'boxes for tests',
  events: {
    'box.changed': { schema: box, summary: '' },
    'box.deleted': { schema: box.omit({ colour: true }), summary: '' },
  },
} as const satisfies TopicDefinition

const TABLE = `create table boxes (name text primary key, version int not null, colour text, deleted_at timestamptz,
  reconciled_at timestamptz not null default now())`
const APPLY = sql<never, [name: string, version: number, colour: string | null, deletedAt: Date | null]>(`
insert into boxes (name, version, colour, deleted_at) values ($1, $2, $3, $4)
on conflict (name) do update set version = excluded.version, colour = excluded.colour, deleted_at = excluded.deleted_at
 where boxes.version < excluded.version`)
const SEEN = sql<never, [names: string[], at: Date]>('update boxes set reconciled_at = $2 where name = any($1)')
const SWEEP = sql<{ name: string }, [at: Date]>('delete from boxes where reconciled_at < $1 returning name')
const LIVE = sql<{ name: string; version: number; colour: string }>(
  'select name, version, colour from boxes where deleted_at is null order by name',
)
const ASKED = sql(`select event_id from consumed where event_id = 'reconciled'`)
const FORGET = sql(`delete from consumed where event_id = 'reconciled'`)

const store: ProjectionStore<Box> = {
  apply: async (tx, entities, at) => {
    for (const it of entities) await tx.query(APPLY, it.name, it.version, it.colour, null)
    await tx.query(
      SEEN,
      entities.map((it) => it.name),
      at,
    )
  },
  sweep: async (tx, at) => (await tx.query(SWEEP, at)).length,
}

describe('a projection', () => {
  let fixture: MessagingFixture
  let owner: Box[]
  beforeEach(async () => {
    fixture = await MessagingFixture.open([boxes])
    owner = []
    const client = await fixture.db.direct()
    await client.query(TABLE)
    await client.end()
  })
  afterEach(() => fixture.close())

  const pageOfOwner = async (after: string | undefined): Promise<SnapshotPage<Box>> => {
    const sorted = owner.toSorted((a, b) => a.name.localeCompare(b.name)).filter(({ name }) => name > (after ?? ''))
    return { entities: sorted.slice(0, 2), ...(sorted.length > 2 && { next: sorted[1]?.name }) }
  }

  const projection = (db: Database = fixture.db) =>
    new Projection({
      kafka: fixture.kafka,
      db,
      service: 'mail-ingest',
      topic: boxes,
      handlers: {
        'box.changed': {
          effect: (tx, { payload: it }) => tx.query(APPLY, it.name, it.version, it.colour, null).then(() => {}),
        },
        'box.deleted': {
          effect: (tx, { payload: it }) => tx.query(APPLY, it.name, it.version, null, new Date()).then(() => {}),
        },
      },
      snapshot: pageOfOwner,
      store,
    })

  const changed = (name: string, version: number, colour: string) =>
    event('box.changed' as const, { name, version, colour })
  const deleted = (name: string, version: number) => event('box.deleted' as const, { name, version })
  const event = <Type extends string, Payload extends { name: string }>(type: Type, payload: Payload) => ({
    id: randomUUID(),
    type,
    subject: payload.name,
    key: payload.name,
    time: new Date(),
    routing: { organizationId: 'o' },
    payload,
  })

  it('starts from the snapshot of its owner and follows the events', async () => {
    owner = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, version: 1, colour: 'red' }))
    await fixture.started(projection())
    await until(async () => (await fixture.db.query(LIVE)).length === 5)
    const outbox = new Outbox({ db: fixture.db, service: 'gateway' })
    await fixture.relay(fixture.db, outbox)
    await fixture.db.transaction((tx) =>
      outbox.addAll(tx, boxes, [changed('a', 2, 'blue'), deleted('b', 2), changed('f', 1, 'green')]),
    )
    // The events are of three keys, whose order among each other is open.
    const followed = ['a blue', 'c red', 'd red', 'e red', 'f green']
    await until(async () => {
      const live = await fixture.db.query(LIVE)
      return isDeepStrictEqual(
        live.map(({ name, colour }) => `${name} ${colour}`),
        followed,
      )
    })
  })

  it('holds the newest version whatever the order of events, and does not resurrect deleted entities', async () => {
    const { consumer } = projection()
    await deliverTwiceAndSwapped(consumer, changed('a', 1, 'red'), changed('a', 2, 'blue'))
    await deliverTwiceAndSwapped(consumer, changed('b', 1, 'red'), deleted('b', 2))
    expect(await fixture.db.query(LIVE)).toEqual([{ name: 'a', version: 2, colour: 'blue' }])
  })

  it('repairs missed changes and sweeps entities that its owner no longer has', async () => {
    const it = projection()
    await deliverTwiceAndSwapped(it.consumer, changed('stale', 1, 'red'), changed('gone', 1, 'red'))
    owner = [
      { name: 'stale', version: 3, colour: 'blue' },
      { name: 'missed', version: 1, colour: 'green' },
    ]
    await it.reconcile()
    expect((await fixture.db.query(LIVE)).map(({ name, colour }) => `${name} ${colour}`)).toEqual([
      'missed green',
      'stale blue',
    ])
  })

  it('asks its owner once a day, across restarts', async () => {
    owner = [{ name: 'a', version: 1, colour: 'red' }]
    const first = await fixture.started(projection())
    await until(async () => (await fixture.db.query(LIVE)).length === 1)
    await until(async () => (await fixture.db.query(ASKED)).length === 1)
    await first.stop()
    owner = [{ name: 'b', version: 1, colour: 'red' }]
    const second = await fixture.started(projection())
    await second.stop()
    expect((await fixture.db.query(LIVE)).map(({ name }) => name)).toEqual(['a'])
    await fixture.db.query(FORGET)
    await fixture.started(projection())
    await until(async () => (await fixture.db.query(LIVE))[0]?.name === 'b')
  })
})
