/**
 * Reads lists with every combination of filters on one connection, and prints how many requests it made and how many
 * plans the connection keeps. A process of its own: test files share what a process prepares.
 */
import type { Caller } from '@restante/contracts/access'
import { RESTRICTED_LABELS } from '@restante/contracts/vocabulary'
import { Database, sqlUnprepared } from '@restante/service/database'
import { Cursors } from '@restante/service/http'
import { listMessages } from '../../src/mailbox-api/message-list.ts'
import { listThreads } from '../../src/mailbox-api/thread-list.ts'

export interface PlansInput {
  readonly databaseUrl: string
  readonly inbox: Caller
  readonly organization: Caller
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

/** Every combination of one value of each list. */
function combinations<T>(lists: readonly (readonly T[])[]): T[][] {
  return lists.reduce<T[][]>((all, list) => all.flatMap((chosen) => list.map((value) => [...chosen, value])), [[]])
}

async function countPlans({ databaseUrl, inbox, organization }: PlansInput): Promise<object> {
  const db = new Database({ url: databaseUrl, poolSize: 1, applicationName: 'test' })
  const deps = { db, cursors: new Cursors('secret') }
  const ofMessages = queriesOf('from')
  const ofThreads = queriesOf('senders')
  for (const query of ofMessages) await listMessages(deps, inbox, query)
  for (const caller of [inbox, organization]) for (const query of ofThreads) await listThreads(deps, caller, query)
  const [kept] = await db.query(
    sqlUnprepared<{ plans: number }>('select count(*)::int as plans from pg_prepared_statements'),
  )
  await db.stop()
  return { requests: ofMessages.length + 2 * ofThreads.length, plans: kept?.plans ?? 0 }
}

process.stdout.write(JSON.stringify(await countPlans(JSON.parse(process.argv[2] ?? ''))))
