import { randomInt, randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import { Schedule } from '@restante/jobs'
import { Outbox } from '@restante/messaging'
import { deliverOnce } from '@restante/messaging/testing'
import { sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import type { Tenancy } from '@restante/tenancy'
import { inboxDeletedEvent, organizationTakenOverEvent, queryRows, waitFor } from '@restante/testkit'
import { openTenancy } from '../../src/tenancy/open-tenancy.ts'
import type { SendTimers } from '../../src/timers/kinds.ts'
import { type Answer, type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'

type SendingCaller = ReturnType<typeof inboxCaller>

let fixture: Fixture
let tenancy: Tenancy
let caller: SendingCaller

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = {
    'mail-ingest.placeSent': async () => ({}),
    'gateway.getSendingInbox': async () => {
      const { organization_id, inbox, sending, unverified, take_overs = 0 } = caller
      return { sender: { organization_id, inbox, sending, unverified, take_overs } }
    },
  }
  const { db, topics, config } = fixture
  const outbox = new Outbox({ db, service: 'mail-send' })
  const log = createLogger({ service: 'test', level: 'silent' })
  const blobs = await openBlobStore(config.blobStore)
  tenancy = openTenancy({ kafka: topics.kafka, db, log, outbox, blobs, timers: new Schedule<SendTimers>() })
})
afterAll(() => fixture.stop())
beforeEach(() => {
  caller = inboxCaller()
})

// One statement, so one snapshot: also while drafts are changed.
const BOTH = sql<{ held: number; summed: number }, [inboxUid: string]>(`
select (select coalesce(sum(size), 0)::int from drafts where inbox_uid = $1::uuid) as held,
       (select coalesce(sum((payload::jsonb ->> 'grown')::int), 0)::int
          from outbox where topic = 'mail.drafts' and key = $1::uuid::text) as summed`)

/** The bytes of the drafts of an inbox, which is what its events add up to. */
async function bytes({ inbox } = caller): Promise<number> {
  const [both] = await fixture.db.query(BOTH, inbox.uid)
  expect(both?.summed).toBe(both?.held)
  return both?.held ?? -1
}

/** What each event about a draft adds, in order. */
async function grown(id: string): Promise<unknown[]> {
  const events =
    "select type, payload::jsonb -> 'grown' as grown from outbox where topic = 'mail.drafts' and subject = $1"
  const rows = await queryRows<{ type: string; grown: number }>(fixture.db, `${events} order by position`, id)
  return rows.map(({ type, grown }) => [type, grown])
}

const create = (body: object, by = caller) => fixture.call('drafts.create', by, { path: '/drafts', body })
async function created(body: object, by = caller): Promise<string> {
  const answer = await create(body, by)
  expect(answer).toMatchObject({ status: 200 })
  return String(answer.body.draft_id)
}
const update = (id: string, body: object): Promise<Answer> =>
  fixture.call('drafts.update', caller, { method: 'PATCH', path: `/drafts/${id}`, body })
const remove = (id: string) => fixture.call('drafts.delete', caller, { method: 'DELETE', path: `/drafts/${id}` })
const send = (id: string) => fixture.call('drafts.send', caller, { path: `/drafts/${id}/send`, body: {} })

const to = () => `ann-${randomUUID().slice(0, 8)}@outside.example`
const file = (length: number) => ({ filename: 'a.txt', content: Buffer.alloc(length, 'a').toString('base64') })
const isGone = (id: string) =>
  waitFor(async () => (await queryRows(fixture.db, 'select from drafts where id = $1', id)).length === 0, {
    what: 'the end of the draft',
  })

describe('events of drafts', () => {
  it('say how many bytes each change adds', async () => {
    const id = await created({ text: 'x'.repeat(100), attachments: [file(20)] })
    const { body } = await update(id, { html: '<p>é</p>', add_attachments: [file(3)] })
    const [attachment] = body.attachments as { attachment_id: string }[]
    await update(id, { subject: 'Free' })
    await update(id, { text: '', remove_attachments: [attachment?.attachment_id] })
    await remove(id)
    const changed = 'draft.changed'
    expect(await grown(id)).toEqual([
      [changed, 120],
      [changed, 12],
      [changed, 4],
      [changed, -120],
      ['draft.deleted', -16],
    ])
  })

  it('add nothing for a schedule or a status, and take everything away with what is sent', async () => {
    const id = await created({ to: to(), text: 'x'.repeat(50) })
    await update(id, { send_at: new Date().toISOString() })
    await isGone(id)
    expect(await grown(id)).toEqual([
      ['draft.changed', 50],
      ['draft.changed', 0],
      ['draft.changed', 0],
      ['draft.deleted', -50],
    ])
    caller = inboxCaller({ sending: 'suspended' })
    const failing = await created({ to: to(), text: 'x'.repeat(50), send_at: new Date().toISOString() })
    await waitFor(async () => (await grown(failing)).length === 3, { what: 'the failure' })
    expect((await grown(failing)).slice(1)).toEqual([
      ['draft.changed', 0],
      ['draft.changed', 0],
    ])
    expect(await bytes()).toBe(50)
  })

  it('take away what a take-over deletes', async () => {
    const ids = [await created({ text: 'x'.repeat(10) }), await created({ attachments: [file(7)] })]
    await created({ text: 'kept' }, { ...caller, take_overs: 1 })
    const event = organizationTakenOverEvent(caller.organization_id, { takeOvers: 1, verified: true })
    await deliverOnce(tenancy.consumer, event)
    expect(await bytes()).toBe(4)
    expect((await Promise.all(ids.map(grown))).map((events) => events.at(-1))).toEqual([
      ['draft.deleted', -10],
      ['draft.deleted', -7],
    ])
  })

  it('add up to the bytes of the drafts at any time, whatever their history', async () => {
    const known = async () =>
      (await queryRows<{ id: string }>(fixture.db, 'select id from drafts where inbox_uid = $1', caller.inbox.uid)).map(
        ({ id }) => id,
      )
    const text = () => 'ä'.repeat(randomInt(1_000))
    for (let step = 0; step < 50; step++) {
      const ids = await known()
      const some = () => ids[randomInt(ids.length)] ?? ''
      const attachmentsOf = async (id: string) =>
        (await queryRows<{ id: string }>(fixture.db, 'select id from files where draft_id = $1', id)).map(
          ({ id }) => id,
        )
      const fresh = () =>
        create({
          to: to(),
          text: text(),
          html: text(),
          attachments: [file(randomInt(1_000))],
          client_id: `c${randomInt(9)}`,
        })
      const changes: (() => Promise<unknown>)[] = [
        fresh,
        () => Promise.all([fresh(), fresh()]),
        () => update(some(), { text: text(), add_attachments: [file(randomInt(1_000))] }),
        () => Promise.all([some(), some()].map((id) => update(id, { html: text() }))),
        async () => {
          const id = some()
          return update(id, { text: null, remove_attachments: (await attachmentsOf(id)).slice(0, 1) })
        },
        () => Promise.all([remove(some()), update(some(), { text: text() })]),
        () => send(some()),
        () => update(some(), { send_at: new Date().toISOString() }),
      ]
      const next = ids.length === 0 ? 0 : randomInt(changes.length)
      await Promise.all([changes[next]?.(), bytes()])
      await bytes()
    }
    // What is still to be sent would change what the next test counts.
    const scheduled = "select from timers where kind = 'draft-send'"
    await waitFor(async () => (await queryRows(fixture.db, scheduled)).length === 0, { what: 'the last sends' })
    await bytes()
  })
})

interface Counted {
  readonly at: string
  readonly inboxes: readonly Readonly<Record<string, unknown>>[]
  readonly next?: string
}

describe('mail-send.countDrafts', () => {
  async function all(limit: number) {
    const inboxes: Counted['inboxes'][number][] = []
    let pages = 0
    for (let after: string | undefined, more = true; more; more = after !== undefined) {
      const { status, body } = await fixture.internal('mail-send.countDrafts', 'metrics', { after, limit })
      expect({ status, body }).toMatchObject({ status: 200, body: { at: expect.any(String) } })
      const { at, inboxes: counted, next } = body as unknown as Counted
      expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(60_000)
      inboxes.push(...counted)
      after = next
      pages++
    }
    return { inboxes, pages }
  }

  it('200: pages through every inbox that has drafts, and leaves out deleted ones', async () => {
    const callers = [caller, inboxCaller(), inboxCaller()]
    for (const one of callers) await created({ text: 'one' }, one)
    await created({ text: 'two', attachments: [file(5)] })
    const { inboxes, pages } = await all(1)
    expect(pages).toBe(inboxes.length + 1)
    expect((await all(1_000)).inboxes).toEqual(inboxes)
    const { organization_id, inbox } = caller
    const ours = { organization_id, pod_id: inbox.pod_id, inbox_uid: inbox.uid }
    expect(inboxes).toContainEqual({ ...ours, bytes: 11 })
    expect(inboxes.map(({ inbox_uid }) => inbox_uid)).toEqual(
      expect.arrayContaining(callers.map(({ inbox }) => inbox.uid)),
    )
    const scope = { organizationId: organization_id, podId: inbox.pod_id, inboxUid: inbox.uid, address: inbox.address }
    await deliverOnce(tenancy.consumer, inboxDeletedEvent(scope))
    expect((await all(2)).inboxes).toEqual(inboxes.filter(({ inbox_uid }) => inbox_uid !== inbox.uid))
  })
})
