import { randomBytes } from 'node:crypto'
import { sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import { waitFor } from '@restante/testkit'
import { forgetNonces, takeNonce } from '../../src/edge/signatures/nonces.ts'
import { startGateway, type TestGateway } from '../gateway.ts'

const AGE = sql<never, [credentialId: string, seconds: number]>(
  'update signature_nonces set used_at = now() - make_interval(secs => $2) where credential_id = $1::uuid',
)
const MANY = sql<never, [credentialId: string, count: number]>(`
insert into signature_nonces (credential_id, nonce)
select $1::uuid, 'n' || n from generate_series(1, $2) n`)
const COUNT = sql<{ count: number }, [credentialId: string]>(
  'select count(*)::int as count from signature_nonces where credential_id = $1::uuid',
)

describe('nonces', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  const countOf = async (key: string) => (await gateway.db.query(COUNT, key))[0]?.count

  it('are accepted once per key, also for concurrent requests', async () => {
    const [key, other, nonce] = [crypto.randomUUID(), crypto.randomUUID(), randomBytes(16).toString('hex')]
    const taken = await Promise.all(Array.from({ length: 20 }, () => takeNonce(gateway.db, key, nonce)))
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect(await takeNonce(gateway.db, other, nonce)).toBe(true)
  })

  it('are kept for longer than a signature can be valid, and then deleted, however many there are', async () => {
    const [young, old] = [crypto.randomUUID(), crypto.randomUUID()]
    await gateway.db.query(MANY, young, 10)
    await gateway.db.query(MANY, old, 12_000)
    await gateway.db.query(AGE, young, 601)
    await gateway.db.query(AGE, old, 665)
    const sweeper = forgetNonces(gateway.db, createLogger({ service: 'test', level: 'silent' }))
    await sweeper.start()
    sweeper.notify()
    await waitFor(async () => (await countOf(old)) === 0, { what: 'the old ones to be forgotten' })
    await sweeper.stop()
    expect(await countOf(young)).toBe(10)
  })
})
