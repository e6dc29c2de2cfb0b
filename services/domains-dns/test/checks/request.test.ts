import { LIMITS } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { underLoad } from '@restante/testkit'
import { awaitCheck } from '../../src/checks/request.ts'
import { type Fixture, startFixture, tenant } from '../support/fixture.ts'
import { withoutChecks } from '../support/without-checks.ts'

let fixture: Fixture
const { owner } = tenant()
beforeAll(async () => {
  fixture = await withoutChecks(await startFixture())
})
afterAll(() => fixture.stop())

describe('waiting for a check that does not end', () => {
  it('lasts 3 s and takes at most 20 queries, so that many waiting requests are no load', async () => {
    const { domain } = await fixture.register(owner)
    const row = await fixture.row(owner, domain)
    let queries = 0
    const counting: Queryable = {
      query: (statement, ...values) => {
        queries++
        return fixture.db.query(statement, ...values)
      },
    }
    const begun = performance.now()
    expect(await awaitCheck(counting, { row, wanted: row.checks + 1 })).toEqual({ outcome: 'queued' })
    const waited = performance.now() - begun
    expect(waited).toBeGreaterThan(LIMITS.domain.verifyWait - 10)
    expect(waited).toBeLessThan(underLoad(5 * LIMITS.domain.verifyWait))
    expect(queries).toBeLessThanOrEqual(20)
  })
})
