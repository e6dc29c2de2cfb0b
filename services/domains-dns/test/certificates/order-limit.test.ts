import { waitFor } from '@restante/testkit'
import { service as domainsDns } from '../../src/main.ts'
import { FakeAuthority } from './fake-authority.ts'
import { type Stage, startStage } from './stage.ts'

const HOUR = 60 * 60_000

describe('orders of an installation that has made as many as it may in an hour', () => {
  let authority: FakeAuthority
  let stage: Stage

  beforeAll(async () => {
    authority = await FakeAuthority.start()
    const variables = { ACME_DIRECTORY: authority.directory, ACME_CA_FILE: authority.caFile }
    stage = await startStage({ ...variables, ACME_ORDERS_PER_HOUR: '2' })
  })
  afterAll(async () => {
    await stage.stop()
    await authority.stop()
  })

  it('wait for the end of the hour, whichever host they are for, and no authority hears of them', async () => {
    for (const name of [await stage.tracked(), await stage.tracked()])
      await waitFor(async () => (await stage.orders(name))[0]?.outcome, { what: 'the end of the order' })
    const third = await stage.tracked()
    const waits = await waitFor(
      async () => {
        const wait = ((await stage.dueAt(third))?.getTime() ?? 0) - Date.now()
        return wait > HOUR / 2 && wait
      },
      { what: 'the wait of the third host' },
    )
    expect(waits).toBeLessThanOrEqual(1.5 * HOUR)
    expect(await stage.orders(third)).toEqual([])
    expect(authority.orders).toBe(2)
  })

  it('cannot be none at all', () => {
    expect(() => domainsDns.configure({ ...stage.fixture.env, ACME_ORDERS_PER_HOUR: '0' })).toThrow(
      'ACME_ORDERS_PER_HOUR',
    )
  })
})
