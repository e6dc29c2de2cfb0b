import { queryRows, waitFor } from '@restante/testkit'
import { type Fixture, startFixture, tenant } from '../support/fixture.ts'

let fixture: Fixture
const { owner } = tenant()
beforeAll(async () => {
  fixture = await startFixture({ RETURN_PROBE: 'off' })
})
afterAll(() => fixture.stop())

const row = (name: string) => fixture.row(owner, name)

/** A domain that was checked once, whose schedule began 20 days ago, and that has no timer. */
async function withoutTimer(status: string): Promise<string> {
  const { domain: name } = await fixture.register(owner)
  await waitFor(async () => (await row(name)).checks === 1, { what: 'the first check' })
  const columns = 'status = $2, reason = null, scheduled_from = now() - interval $$20 days$$'
  await queryRows(fixture.db, `update domains set ${columns} where name = $1`, name, status)
  await queryRows(fixture.db, 'delete from timers where key = $1', (await row(name)).uid)
  return name
}

describe('a domain whose timer is missing', () => {
  it('is checked again when it is verified, not when its automatic checks have ended', async () => {
    const [verified, ended] = [await withoutTimer('VERIFIED'), await withoutTimer('PENDING')]
    await fixture.restart()
    await waitFor(async () => (await row(verified)).checks === 2, { what: 'the check of the verified domain' })
    expect((await row(ended)).checks).toBe(1)
    expect(await queryRows(fixture.db, 'select kind from timers where key = $1', (await row(ended)).uid)).toEqual([])
  })
})
