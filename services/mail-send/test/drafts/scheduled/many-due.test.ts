import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '@restante/service/database'
import { byLength, countRows, waitFor } from '@restante/testkit'
import { type Fixture, inboxCaller, startWorld } from '../../support/fixture.ts'

const DRAFTS = byLength({ short: 100, long: 10_000 })
const INBOXES = 20
/** Drafts that are created at the same time. */
const WRITERS = 8
/** Time between the flush of Redis and the moment at which the drafts are due. */
const JUST_BEFORE_MS = 300
const MOST_MS = byLength({ short: 60_000, long: 20 * 60_000 })

let fixture: Fixture
const callers = Array.from({ length: INBOXES }, () => inboxCaller())

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = {
    'mail-ingest.placeSent': async () => ({}),
    'gateway.getSendingInbox': async ({ inbox_uid }) => {
      const caller = callers.find(({ inbox }) => inbox.uid === inbox_uid)
      if (!caller) return {}
      const { organization_id, inbox, sending, unverified } = caller
      return { sender: { organization_id, inbox, sending, unverified, take_overs: 0 } }
    },
  }
})
afterAll(() => fixture.stop())

const recipientOf = (at: number) => `ann-${at}@outside.example`

async function schedule(at: number): Promise<void> {
  const caller = callers[at % INBOXES] ?? inboxCaller()
  const send_at = new Date(Date.now() + 3_600_000).toISOString()
  const body = { to: recipientOf(at), subject: `draft ${at}`, text: 'Words', send_at }
  const { status } = await fixture.call('drafts.create', caller, { path: '/drafts', body })
  if (status !== 200) throw new Error(`draft ${at} was refused: ${status}`)
}

/** Makes all drafts due at one moment, as if they had been written for it. */
async function setMoment(moment: Date): Promise<void> {
  await fixture.db.transaction(async (tx) => {
    await tx.query(MOVE, moment)
    await tx.query(MOVE_TIMERS, moment)
  })
}

/** Events of each type, each event once however often it is in the topic. */
function publishedTypes(): Record<string, number> {
  const unique = new Map(fixture.facts.records.map(({ id, type }) => [id, type]))
  return Object.fromEntries([...Map.groupBy(unique.values(), (type) => type)].map(([type, all]) => [type, all.length]))
}

it(
  `sends ${DRAFTS} drafts that are due at one moment, each once, although Redis is flushed just before`,
  async () => {
    let next = 0
    const write = async () => {
      while (next < DRAFTS) await schedule(next++)
    }
    await Promise.all(Array.from({ length: WRITERS }, write))
    const moment = new Date(Date.now() + 1_000)
    await setMoment(moment)
    await sleep(moment.getTime() - Date.now() - JUST_BEFORE_MS)
    await fixture.flushRedis()
    expect(await countRows(fixture.db, "drafts where send_status = 'scheduled'")).toBe(DRAFTS)

    const isOver = async () =>
      (await countRows(fixture.db, 'drafts')) === 0 &&
      (await countRows(fixture.db, "deliveries where state <> 'delivered'")) === 0
    await waitFor(isOver, { what: 'every draft to be sent and delivered', timeout: MOST_MS, interval: 500 })
    await waitFor(() => (publishedTypes()['delivery.delivered'] ?? 0) >= DRAFTS, {
      what: 'every event',
      timeout: MOST_MS,
      interval: 500,
    })

    expect(await countRows(fixture.db, 'sends')).toBe(DRAFTS)
    expect(await countRows(fixture.db, "timers where kind = 'draft-send' or kind like 'delivery%'")).toBe(0)
    const counts = Array.from({ length: DRAFTS }, (_, at) => fixture.outside.mailsTo(recipientOf(at)).length)
    expect(counts.filter((count) => count !== 1)).toEqual([])
    expect(publishedTypes()).toMatchObject({
      'message.accepted': DRAFTS,
      'delivery.handed_over': DRAFTS,
      'delivery.delivered': DRAFTS,
    })
  },
  2 * MOST_MS,
)

const MOVE = sql<never, [moment: Date]>('update drafts set send_at = $1')
const MOVE_TIMERS = sql<never, [moment: Date]>("update timers set due_at = $1 where kind = 'draft-send'")
