import { RESTRICTED_LABELS } from '@restante/contracts/vocabulary'
import { Database, sqlUnprepared } from '@restante/service/database'
import { Cursors } from '@restante/service/http'
import { callerOf } from '@restante/testkit'
import { listMessages } from '../../src/mailbox-api/message-list.ts'
import { listThreads } from '../../src/mailbox-api/thread-list.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
  inbox = await fixture.inbox()
}, 60_000)
afterAll(() => fixture.stop(), 30_000)

/** Every combination of one value of each list. */
function combinations<T>(lists: readonly (readonly T[])[]): T[][] {
  return lists.reduce<T[][]>((all, list) => all.flatMap((chosen) => list.map((value) => [...chosen, value])), [[]])
}

const includes = RESTRICTED_LABELS.map((label) => [{}, { [`include_${label}`]: true }])
const bounds = [
  [{}, { before: new Date() }],
  [{}, { after: new Date(0) }],
  [{}, { ascending: true }],
]
const texts = (...names: string[]) => names.map((name) => [{}, { [name]: ['a'] }, { [name]: ['a', 'b'] }])
const queriesOf = (...names: string[]) =>
  combinations<object>([...includes, ...bounds, [{}, { labels: ['vip'] }], ...texts(...names)]).map((chosen) =>
    Object.assign({}, ...chosen),
  )

describe('a connection to the database', () => {
  it('keeps a bounded number of plans, whatever combinations of filters are requested', async () => {
    const db = new Database({ url: fixture.databaseUrl, poolSize: 1, applicationName: 'test' })
    const deps = { db, cursors: new Cursors('secret') }
    const callers = [inbox.caller, callerOf({ organization_id: inbox.organization_id })]
    try {
      const ofMessages = queriesOf('from')
      const ofThreads = queriesOf('senders')
      for (const query of ofMessages) await listMessages(deps, inbox.caller, query)
      for (const caller of callers) for (const query of ofThreads) await listThreads(deps, caller, query)
      expect(ofMessages.length + 2 * ofThreads.length).toBeGreaterThan(2_000)
      const [kept] = await db.query(
        sqlUnprepared<{ plans: number }>('select count(*)::int as plans from pg_prepared_statements'),
      )
      expect(kept?.plans).toBeGreaterThan(0)
      expect(kept?.plans).toBeLessThan(30)
    } finally {
      await db.stop()
    }
  })
})
