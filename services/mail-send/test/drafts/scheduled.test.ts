import { randomUUID } from 'node:crypto'
import { sql } from '@restante/service/database'
import { byLength, countRows, waitFor } from '@restante/testkit'
import { type Answer, type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'

type SendingCaller = ReturnType<typeof inboxCaller>

let fixture: Fixture
const callers = new Map<string, SendingCaller>()

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = {
    'mail-ingest.placeSent': async () => ({}),
    'gateway.getSendingInbox': async ({ inbox_uid }) => {
      const caller = callers.get(inbox_uid)
      if (!caller) return {}
      const { organization_id, inbox, sending, unverified, take_overs = 0 } = caller
      return { sender: { organization_id, inbox, sending, unverified, take_overs } }
    },
  }
})
afterAll(() => fixture.stop())

/** A caller whose inbox the gateway knows. */
function known(overrides: Parameters<typeof inboxCaller>[0] = {}): SendingCaller {
  const caller = inboxCaller(overrides)
  callers.set(caller.inbox.uid, caller)
  return caller
}

function someone(): string {
  return `ann-${randomUUID().slice(0, 8)}@outside.example`
}

function soon(ms: number): string {
  return new Date(Date.now() + ms).toISOString()
}

async function schedule(caller: SendingCaller, body: Record<string, unknown>): Promise<string> {
  const answer = await fixture.call('drafts.create', caller, { path: '/drafts', body })
  expect(answer).toMatchObject({ status: 200, body: { send_status: 'scheduled', labels: ['draft', 'scheduled'] } })
  return String(answer.body.draft_id)
}

function update(caller: SendingCaller, id: string, body: unknown): Promise<Answer> {
  return fixture.call('drafts.update', caller, { method: 'PATCH', path: `/drafts/${id}`, body })
}

function get(caller: SendingCaller, id: string): Promise<Answer> {
  return fixture.call('drafts.get', caller, { method: 'GET', path: `/drafts/${id}` })
}

function statusOf(caller: SendingCaller, id: string, status: string): Promise<Answer> {
  return waitFor(
    async () => {
      const answer = await get(caller, id)
      return answer.body.send_status === status ? answer : undefined
    },
    { what: `${status} of the draft` },
  )
}

async function isGone(caller: SendingCaller, id: string): Promise<void> {
  await waitFor(async () => (await get(caller, id)).status === 404 || undefined, { what: 'the end of the draft' })
}

/** The copies that an inbox was given, of which there are so many: the draft ends a moment before. */
function copiesOf({ inbox }: SendingCaller, count: number) {
  const placed = () =>
    fixture.peers.requests('mail-ingest.placeSent').filter(({ inbox_uid }) => inbox_uid === inbox.uid)
  return waitFor(() => placed().length >= count && placed(), { what: `${count} copies` })
}

describe('a scheduled draft', () => {
  it('is sent when it is due, by the inbox as it is then, and is gone', async () => {
    const caller = known()
    const to = someone()
    const id = await schedule(caller, { to, subject: 'Later', text: 'now', send_at: soon(3_600_000) })
    callers.set(caller.inbox.uid, { ...caller, inbox: { ...caller.inbox, display_name: 'Renamed' } })
    expect((await update(caller, id, { send_at: soon(300) })).body.send_status).toBe('scheduled')
    const { parsed } = await fixture.outside.next(to)
    expect([parsed.subject, parsed.from?.text]).toEqual(['Later', expect.stringContaining('Renamed')])
    await isGone(caller, id)
    expect(await copiesOf(caller, 1)).toMatchObject([{ labels: [] }])
  })

  it('in the past goes out at once', async () => {
    const caller = known()
    const to = someone()
    await schedule(caller, { to, send_at: '2001-01-01T00:00:00+05:00' })
    await fixture.outside.next(to)
  })

  it('of a paused inbox fails once and for good, and is scheduled again by another time', async () => {
    const caller = known()
    const to = someone()
    const paused = { ...caller, inbox: { ...caller.inbox, paused: true } }
    callers.set(caller.inbox.uid, paused)
    const at = soon(200)
    const id = await schedule(caller, { to, send_at: at })
    const failed = await statusOf(caller, id, 'failed')
    expect(failed.body).toMatchObject({ send_at: at, labels: ['draft', 'scheduled'] })
    callers.set(caller.inbox.uid, caller)
    expect((await fixture.db.query(TIMERS, id)).length).toBe(0)
    expect((await update(caller, id, { text: 'changed' })).body.send_status).toBe('failed')
    expect((await update(caller, id, { send_at: soon(100) })).body.send_status).toBe('scheduled')
    await fixture.outside.next(to)
    await isGone(caller, id)
  })

  it.each([
    ['a suspended organization', { sending: 'suspended' as const }],
    ['an organization that may send to nobody', { sending: 'none' as const, unverified: true }],
  ])('of %s fails', async (_, overrides) => {
    const caller = known(overrides)
    await statusOf(caller, await schedule(caller, { to: someone(), send_at: soon(0) }), 'failed')
  })

  it('without a time is a draft like any other', async () => {
    const caller = known()
    const id = await schedule(caller, { to: someone(), send_at: soon(3_600_000) })
    const { body } = await update(caller, id, { send_at: null })
    expect(body.labels).toEqual(['draft'])
    expect(body).not.toHaveProperty('send_status')
    expect(body).not.toHaveProperty('send_at')
    expect((await fixture.db.query(TIMERS, id)).length).toBe(0)
  })

  it('needs a recipient', async () => {
    const caller = known()
    const id = await schedule(caller, { to: someone(), send_at: soon(3_600_000) })
    expect((await update(caller, id, { to: [] })).status).toBe(400)
    expect((await get(caller, id)).body).toHaveProperty('to')
  })

  it('needs draft_send', async () => {
    const caller = known()
    const credential = { ...caller.credential, permissions: ['draft_create', 'draft_update'] }
    const weak = { ...caller, credential }
    const create = (body: unknown) => fixture.call('drafts.create', weak, { path: '/drafts', body })
    expect((await create({ to: someone(), send_at: soon(1_000) })).body.fix).toContain('draft_send')
    const { body } = await create({ to: someone() })
    expect((await update(weak, String(body.draft_id), { send_at: soon(1_000) })).body.code).toBe('missing_permission')
    // What is sent unattended is what was written last.
    const scheduled = await schedule(caller, { to: someone(), send_at: soon(3_600_000) })
    expect((await update(weak, scheduled, { text: 'other words' })).body.code).toBe('missing_permission')
    expect((await update(weak, scheduled, { send_at: null })).status).toBe(200)
  })

  it('that falls due while it is being changed is sent as it is then', async () => {
    const caller = known()
    const all = await Promise.all(
      Array.from({ length: byLength({ short: 4, long: 10 }) }, async () => {
        const to = someone()
        return { to, id: await schedule(caller, { to, text: '0', send_at: soon(400) }) }
      }),
    )
    /** @returns the text of the last change that was accepted. */
    const changeWhile = async (id: string) => {
      let at = 0
      while ((await update(caller, id, { text: String(at + 1) })).status === 200) at++
      return String(at)
    }
    const texts = await Promise.all(all.map(({ id }) => changeWhile(id)))
    const mails = await Promise.all(all.map(({ to }) => fixture.outside.next(to)))
    expect(mails.map(({ parsed }) => parsed.text?.trim())).toEqual(texts)
    await Promise.all(all.map(({ id }) => isGone(caller, id)))
  })

  it('whose time is moved is not sent before the new one, even by an attempt that has begun', async () => {
    const caller = known()
    const id = await schedule(caller, { to: someone(), send_at: soon(3_600_000) })
    await fixture.db.query(DUE, id)
    await waitFor(async () => (await fixture.db.query(TIMERS, id)).length === 0 || undefined, { what: 'the attempt' })
    expect((await get(caller, id)).body.send_status).toBe('scheduled')
  })

  it('of an earlier holder is not sent any more once a human has confirmed the take-over', async () => {
    const earlier = known()
    const { uid } = earlier.inbox
    callers.set(uid, { ...earlier, take_overs: 1, unverified: true, sending: 'none' })
    const refused = await schedule(earlier, { to: someone(), send_at: soon(0) })
    await statusOf(earlier, refused, 'failed')
    callers.set(uid, { ...earlier, take_overs: 1 })
    const id = await schedule(earlier, { to: someone(), send_at: soon(0) })
    await waitFor(async () => (await fixture.db.query(TIMERS, id)).length === 0 || undefined, { what: 'the attempt' })
    expect((await get(earlier, id)).status).toBe(200)
    const placed = fixture.peers.requests('mail-ingest.placeSent').filter(({ inbox_uid }) => inbox_uid === uid)
    expect(placed).toEqual([])
  })

  it('of an earlier holder says how old its labels are, whoever sends it', async () => {
    const earlier = known()
    const { uid } = earlier.inbox
    const successor = { ...earlier, take_overs: 1 }
    callers.set(uid, { ...successor, unverified: true, sending: 'ok' })
    const to = someone()
    const body = { to, labels: ['mine'], send_at: soon(0) }
    await fixture.call('drafts.create', earlier, { path: '/drafts', body })
    await fixture.outside.next(to)
    const other = await fixture.call('drafts.create', earlier, { path: '/drafts', body: { to, labels: ['mine'] } })
    const path = `/drafts/${other.body.draft_id}/send`
    expect((await fixture.call('drafts.send', successor, { path, body: {} })).status).toBe(200)
    expect(await copiesOf(earlier, 2)).toMatchObject([
      { labels: ['mine'], take_overs: 0 },
      { labels: ['mine'], take_overs: 0 },
    ])
  })

  it('can be sent before it is due, and is not sent again', async () => {
    const caller = known()
    const to = someone()
    const id = await schedule(caller, { to, send_at: soon(3_600_000) })
    const path = `/drafts/${id}/send`
    expect((await fixture.call('drafts.send', caller, { path, body: {} })).status).toBe(200)
    await fixture.outside.next(to)
    expect((await fixture.db.query(TIMERS, id)).length).toBe(0)
  })

  it('is neither changed nor deleted while it is being sent, and fails after a quarter of an hour', async () => {
    const caller = known()
    const id = await schedule(caller, { to: someone(), send_at: soon(3_600_000) })
    await fixture.db.query(SENDING, id, '16 minutes')
    const refused = [
      await update(caller, id, { text: 'x' }),
      await fixture.call('drafts.delete', caller, { method: 'DELETE', path: `/drafts/${id}` }),
      await fixture.call('drafts.send', caller, { path: `/drafts/${id}/send`, body: {} }),
    ]
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [409, 'conflict']))
    const { answers } = fixture.peers
    fixture.peers.answers = { ...answers, 'gateway.getSendingInbox': async () => 503 }
    await fixture.db.query(DUE, id)
    await statusOf(caller, id, 'failed')
    fixture.peers.answers = answers
  })

  it('survives an outage of another service', async () => {
    const caller = known()
    const to = someone()
    const { answers } = fixture.peers
    fixture.peers.answers = { ...answers, 'gateway.getSendingInbox': async () => 503 }
    const id = await schedule(caller, { to, send_at: soon(0) })
    await statusOf(caller, id, 'sending')
    fixture.peers.answers = answers
    await fixture.outside.next(to)
    await isGone(caller, id)
  })

  it('is sent once when Redis is flushed and the process restarted', async () => {
    const caller = known()
    const all = Array.from({ length: byLength({ short: 12, long: 30 }) }, someone)
    const at = soon(2_000)
    const ids = await Promise.all(all.map((to) => schedule(caller, { to, send_at: at })))
    await fixture.flushRedis()
    await fixture.restart()
    await Promise.all(all.map((to) => fixture.outside.next(to)))
    await Promise.all(ids.map((id) => isGone(caller, id)))
    expect(await countRows(fixture.db, 'sends where inbox_uid = $1', caller.inbox.uid)).toBe(all.length)
    expect(await countRows(fixture.db, "timers where kind = 'draft-send' and key = any($1)", ids)).toBe(0)
  })
})

const TIMERS = sql<{ id: string }, [key: string]>("select id from timers where kind = 'draft-send' and key = $1")
const SENDING = sql<unknown, [id: string, age: string]>(
  "update drafts set send_status = 'sending', sending_since = now() - $2::interval, version = version + 1 where id = $1",
)
const DUE = sql<unknown, [id: string]>("update timers set due_at = now() where kind = 'draft-send' and key = $1")
