import path from 'node:path'
import { Database } from '@restante/service/database'
import { createDatabase, queryRows } from '@restante/testkit'
import { register } from 'prom-client'
import { providerOf } from '../../../src/delivery/attempts/providers.ts'
import { measureBacklog } from '../../../src/delivery/queue/backlog.ts'

describe('the backlog of deliveries', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>
  let db: Database

  beforeAll(async () => {
    database = await createDatabase(path.join(import.meta.dirname, '../../..'))
    db = new Database({ url: database.url, applicationName: 'test' })
  })
  afterAll(async () => {
    await db.stop()
    await database.drop()
  })

  /** Destination `n` gets `n` waiting deliveries, accepted `n` hours ago. */
  const fill = (count: number) =>
    queryRows(
      db,
      `with added as (
         insert into sends (id, message_id, size, sha256, accepted_at)
         select gen_random_uuid(), n::text, 1, '', now() from generate_series(1, $1::int) n returning id, message_id)
       insert into deliveries (id, send_id, recipient, destination, state, queued_at, updated_at)
       select gen_random_uuid(), id, 'ann', 'd' || message_id || '.example', 'deferred',
              now() - message_id::int * interval '1 hour', now()
         from added, generate_series(1, message_id::int)
       returning id`,
      count,
    )

  async function read(name: string): Promise<Map<unknown, number>> {
    const metric = await register.getSingleMetric(name)?.get()
    return new Map((metric?.values ?? []).map(({ labels, value }) => [labels['destination'], value]))
  }

  it('names the 20 largest destinations and adds up the others, so that no label grows with the queue', async () => {
    await measureBacklog(db)
    expect(await read('restante_delivery_queue_waiting')).toEqual(new Map([['other', 0]]))
    await fill(25)
    await measureBacklog(db)
    const [waiting, oldest] = [
      await read('restante_delivery_queue_waiting'),
      await read('restante_delivery_queue_oldest_seconds'),
    ]
    expect([waiting.size, waiting.get('d25.example'), waiting.get('d6.example')]).toEqual([21, 25, 6])
    expect([waiting.get('d5.example'), waiting.get('other')]).toEqual([undefined, 5 + 4 + 3 + 2 + 1])
    expect(oldest.get('d25.example')).toBeCloseTo(25 * 3_600, -2)
    expect(oldest.get('other')).toBeCloseTo(5 * 3_600, -2)
  })

  it('forgets a destination whose mail is delivered', async () => {
    await queryRows(db, `update deliveries set state = 'delivered' where destination = 'd25.example' returning id`)
    await measureBacklog(db)
    const waiting = await read('restante_delivery_queue_waiting')
    expect([waiting.get('d25.example'), waiting.get('d5.example'), waiting.get('other')]).toEqual([undefined, 5, 10])
  })
})

describe('the provider of a destination', () => {
  it.each([
    ['gmail.com', 'google'],
    ['outlook.com', 'microsoft'],
    ['gmail.com.example', 'other'],
  ])('of %s is %s', (domain, provider) => {
    expect(providerOf(domain)).toBe(provider)
  })
})
