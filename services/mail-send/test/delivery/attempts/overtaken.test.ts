import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { Outbox } from '@restante/messaging'
import { Database } from '@restante/service/database'
import { createDatabase, queryRows } from '@restante/testkit'
import { Decisions } from '../../../src/delivery/attempts/decisions.ts'
import { beginAll, findAllOpen, type OpenTarget } from '../../../src/delivery/attempts/store.ts'
import type { BegunDelivery, Decided } from '../../../src/delivery/outcome/delivery.ts'

const SERVICE = path.join(import.meta.dirname, '../../..')
const REFUSAL: Decided['decision'] = {
  state: 'bounced',
  verdict: { status: '5.0.0', text: '550 no', mta: 'mx.example' },
  bounce: { type: 'Permanent', subType: 'General', suppress: 'at_second' },
}

let database: Awaited<ReturnType<typeof createDatabase>>
let db: Database
let decisions: Decisions

beforeAll(async () => {
  database = await createDatabase(SERVICE)
  db = new Database({ url: database.url, applicationName: 'test' })
  decisions = new Decisions(new Outbox({ db, service: 'mail-send' }), { schedule: async () => {} })
})
afterAll(async () => {
  await db.stop()
  await database.drop()
})

/** A message of an organization that waits for its recipients. */
async function queued(organizationId: string, recipients: readonly string[]): Promise<OpenTarget> {
  const id = randomUUID()
  await queryRows(
    db,
    `insert into sends (id, organization_id, pod_id, inbox_uid, thread_id, message_id, size, sha256, accepted_at)
     values ($1, $2, $1, $1, $1, $3, 1, '', now())`,
    id,
    organizationId,
    `<${id}@restante.test>`,
  )
  for (const recipient of recipients)
    await queryRows(
      db,
      `insert into deliveries (id, send_id, recipient, destination, state, updated_at)
       values (gen_random_uuid(), $1, $2, 'outside.example', 'queued', now())`,
      id,
      recipient,
    )
  return openTarget(id)
}

async function openTarget(id: string): Promise<OpenTarget> {
  const [found] = await findAllOpen(db, [{ send_id: id, destination: 'outside.example' }])
  if (!found) throw new Error('nothing is open')
  return found
}

async function begin(target: OpenTarget): Promise<BegunDelivery[]> {
  return (await beginAll(db, target.deliveries)).filter((one) => one !== undefined)
}

const refused = (deliveries: readonly BegunDelivery[]): Decided[] =>
  deliveries.map((delivery) => ({ delivery, decision: REFUSAL }))

const eventsAbout = (messageId: string) =>
  queryRows<{ type: string }>(
    db,
    `select type from outbox where topic = 'mail.deliveries' and strpos(payload, $1) > 0 order by position`,
    messageId,
  )

describe('an attempt that has been overtaken', () => {
  it('does not take a delivery from the newer one, with which it begins at the same time', async () => {
    const overtaken = await queued(randomUUID(), ['ann@outside.example'])
    await begin(overtaken)
    const current = await openTarget(overtaken.send.id)
    const [stale, own] = await beginAll(db, [...overtaken.deliveries, ...current.deliveries])
    expect(stale).toBeUndefined()
    expect(own).toMatchObject({ attempts: 2 })
  })

  it('publishes nothing when it ends at the same time as the newer one', async () => {
    const target = await queued(randomUUID(), ['ann@outside.example'])
    const stale = await begin(target)
    const own = await begin(await openTarget(target.send.id))
    const { send } = target
    const delivered = stale.map(
      (delivery): Decided => ({ delivery, decision: { state: 'delivered', verdict: REFUSAL.verdict } }),
    )
    await db.transaction((tx) =>
      decisions.recordAll(tx, [
        { send, decided: delivered },
        { send, decided: refused(own) },
      ]),
    )
    const types = (await eventsAbout(send.messageId)).map(({ type }) => type)
    expect(types).toEqual(['delivery.handed_over', 'delivery.bounced'])
  })
})

describe('a delivery', () => {
  it('is there once for each of two attempts that look for it at the same time', async () => {
    const { send } = await queued(randomUUID(), ['ann@outside.example', 'bo@outside.example'])
    const target = { send_id: send.id, destination: 'outside.example' }
    const found = await findAllOpen(db, [target, target])
    expect(found.map((one) => one?.deliveries.length)).toEqual([2, 2])
  })

  it('of two messages to the same addresses is suppressed without a deadlock, in whatever order they are refused', async () => {
    const organizationId = randomUUID()
    const addresses = Array.from({ length: 20 }, (_, at) => `ann-${at}@outside.example`)
    const ends = await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        const target = await queued(organizationId, addresses)
        const begun = (await begin(target)).toSorted((a, b) => (a.recipient < b.recipient ? -1 : 1))
        return { send: target.send, decided: refused(at % 2 === 0 ? begun : begun.toReversed()) }
      }),
    )
    await Promise.all(ends.map((one) => db.transaction((tx) => decisions.recordAll(tx, [one]))))
    const entries = await queryRows<{ entry: string }>(
      db,
      'select entry from list_entries where organization_id = $1 order by entry',
      organizationId,
    )
    expect(entries.map(({ entry }) => entry)).toEqual(addresses.toSorted())
  })
})
