import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import type { Tx } from '../src/storage/database.ts'
import { type Answer, type Api, startGateway, type TestGateway } from './gateway.ts'

const holdOrganization = sql<{ id: string }, [id: string]>('select id from organizations where id = $1 for update')
const holdInbox = sql<{ uid: string }, [address: string]>('select uid from inboxes where address = $1 for update')

const waiting = sql<{ pid: number }>(`
select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)

/** More than the pool has connections. */
const CROWD = 40

describe('many concurrent changes of one organization', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  /** Asks for the crowd's changes behind a lock that is held, and lets them go on once `meanwhile` is done. */
  async function whileHeld(
    lock: (tx: Tx) => Promise<unknown>,
    crowd: () => Promise<Answer[]>,
    meanwhile: () => Promise<void>,
  ): Promise<Answer[]> {
    let asked: Promise<Answer[]> | undefined
    await gateway.db.transaction(async (tx) => {
      await lock(tx)
      asked = crowd()
      await waitFor(async () => (await gateway.db.query(waiting)).length > 0, { what: 'the crowd to wait' })
      await meanwhile()
    })
    return asked ?? []
  }

  /** Enough, one after the other, to meet every connection of the pool. */
  async function useAll(api: Api): Promise<void> {
    for (let round = 0; round < 10; round++) expect((await api.post('/v0/inboxes')).status).toBe(200)
  }

  it.each([
    ['creating inboxes', '/v0/inboxes'],
    ['creating pods', '/v0/pods'],
    ['creating keys', '/v0/api-keys'],
  ])('delay only themselves, and all complete: %s', async (_what, path) => {
    const [busy, other] = [await gateway.organization(), await gateway.organization()]
    const answers = await whileHeld(
      (tx) => tx.query(holdOrganization, busy.id),
      () => Promise.all(Array.from({ length: CROWD }, () => busy.api.post(path, {}))),
      async () => {
        await useAll(other.api)
        expect((await busy.api.get('/v0/inboxes')).status).toBe(200)
      },
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(CROWD).fill(200))
  })

  it('delay only themselves when they change one inbox, and every change survives', async () => {
    const [busy, other] = [await gateway.organization(), await gateway.organization()]
    const { body } = await busy.api.post('/v0/inboxes')
    const address = String(body['inbox_id'])
    const answers = await whileHeld(
      (tx) => tx.query(holdInbox, address),
      () =>
        Promise.all(
          Array.from({ length: CROWD }, (_, index) =>
            busy.api.patch(`/v0/inboxes/${address}`, { metadata: { [`key${index}`]: index } }),
          ),
        ),
      () => useAll(other.api),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(CROWD).fill(200))
    const after = await busy.api.get(`/v0/inboxes/${address}`)
    expect(Object.keys(Object(after.body['metadata']))).toHaveLength(CROWD)
  })
})
