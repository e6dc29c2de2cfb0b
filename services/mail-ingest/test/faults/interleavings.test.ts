import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { sql } from '@restante/service/database'
import { deletionOfInbox } from '@restante/tenancy'
import { callerOf, countRows, queryRows, SmtpSession, sendMail, waitFor } from '@restante/testkit'
import { queue } from '../../src/pipeline/queue/queue.ts'
import { blobOf, ReservedNames } from '../../src/raw/reserved-names.ts'
import { rawMails } from '../../src/raw/store.ts'
import { scopeTombstones } from '../../src/tenancy/tombstones.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { holding, whenWaiting } from '../locks.ts'
import { LARGE_TEXT, pathOf, purgeScope, receiveMail, tenancyOf } from '../mailbox-fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

describe('the queue', () => {
  const ADD = sql<never>(`
insert into inbound (id, lane, kind, recipient, blob, size, envelope, received_at, due_at)
select gen_random_uuid(), gen_random_uuid(), 'report', 'x', 'x', 1, '{"via":"internal","mail_from":""}', now(), now()
  from generate_series(1, 5)`)
  const CLEAR = sql<never>('delete from inbound')

  it('leases each mail to one worker, however many poll concurrently', async () => {
    // The pipeline of the fixture is one of those that ask.
    for (let round = 0; round < 40; round++) {
      await fixture.db.query(ADD)
      const asks = Array.from({ length: 6 }, () => queue.take(fixture.db, randomUUID(), 2))
      const taken = (await Promise.all(asks)).flat(2)
      expect(taken.map(({ attempts }) => attempts)).toEqual(taken.map(() => 1))
      expect(new Set(taken.map(({ id }) => id)).size).toBe(taken.length)
      await fixture.db.query(CLEAR)
    }
  })
})

describe('the bytes of a mail', () => {
  it('have no name before a row records it, so that a crash leaves no orphaned bytes', async () => {
    const { db } = fixture
    const named = async () => {
      const files = await readdir(fixture.blobs, { recursive: true, withFileTypes: true })
      const blobs = files.filter((file) => file.isFile() && path.basename(file.parentPath) !== '.incoming')
      return blobs.map(({ name }) => `inbound/${name}`)
    }
    const before = await named()
    const fresh = async () => (await named()).filter((name) => !before.includes(name))
    const smtp = await SmtpSession.open(fixture.smtpPort)
    await smtp.envelope('ada@customer.test', inbox.address)
    const accepted = await holding(db, async (tx) => {
      await tx.query(sql('lock table inbound in exclusive mode'))
      const answer = smtp.data(`From: ada@x.test\r\nSubject: early\r\n\r\n${LARGE_TEXT}`)
      // Not for a query that is blocked: whoever looks for work is, too.
      await waitFor(async () => (await fresh()).length > 0, { what: 'the bytes to have a name' })
      const blob = await fresh()
      expect(blob).toHaveLength(1)
      expect(await queryRows(db, 'select refs from raw_mails where blob = any($1)', blob)).toEqual([{ refs: 0 }])
      return { answer }
    })
    expect((await accepted.answer).code).toBe(250)
    await smtp.quit()
  })

  it('get no name before its reservation is committed, and unused names are given back', async () => {
    const { db } = fixture
    const reservations = () => countRows(db, 'raw_mails where refs = 0 and size = 0')
    const before = await reservations()
    const names = new ReservedNames(db)
    const taken = await holding(db, async (tx) => {
      await tx.query(sql('lock table raw_mails in exclusive mode'))
      const asked = names.take()
      await whenWaiting(db, tx, { query: 'insert into raw_mails', what: 'the reservation to wait' })
      expect(await Promise.race([asked, 'nothing yet'])).toBe('nothing yet')
      return { asked }
    })
    const others = await Promise.all(Array.from({ length: 120 }, () => names.take()))
    const all = [await taken.asked, ...others].map(({ id }) => id)
    expect(new Set(all).size).toBe(121)
    expect(await countRows(db, 'raw_mails where blob = any($1)', all.map(blobOf))).toBe(121)
    await names.stop()
    expect((await reservations()) - before).toBe(121)
    await rawMails.forgetReserved(db, all.map(blobOf))
  })

  it('stay for another inbox that needs them when two deletions run concurrently', async () => {
    const { db } = fixture
    const other = await fixture.inbox()
    const subject = `shared ${randomUUID()}`
    await sendMail({ port: fixture.smtpPort, from: 'ada@x.test', to: [inbox.address, other.address], subject })
    const messages = await waitFor(
      async () => {
        const text = 'select blob, message_id from messages where subject = $1'
        const rows = await queryRows<{ blob: string; message_id: string }>(db, text, subject)
        return rows.length === 2 && rows
      },
      { what: 'both copies' },
    )
    const [{ blob, message_id: messageId } = { blob: '', message_id: '' }] = messages
    const tenancy = await tenancyOf(fixture)
    await markDeleted(db, inbox)
    const work = await holding(db, async (tx) => {
      await tx.query(sql<never, [string]>('select from raw_mails where blob = $1 for update'), blob)
      const purged = tenancy.purge()
      await whenWaiting(db, tx, { what: 'the purge to wait' })
      const deleted = fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(messageId))
      await whenWaiting(db, tx, { count: 2, what: 'the deletion to wait' })
      return { purged, deleted }
    })
    await work.purged
    expect((await work.deleted).status).toBe(404)
    await purgeScope(fixture, tenancy, inbox.inbox_uid)
    expect(await queryRows(db, 'select refs from raw_mails where blob = $1', blob)).toEqual([{ refs: 1 }])
  })
})

describe('a deleted inbox that is still being purged', () => {
  it('is invisible to every key', async () => {
    const { db } = fixture
    const id = await receiveMail(fixture, inbox)
    const { address: inbox_address, caller: _, ...scope } = inbox
    const { organization_id } = inbox
    const wide = callerOf({ organization_id })
    const threads = () => fixture.call(wide, 'threads.list', 'GET', '/threads')
    const raw = await fixture.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
    const mine = (await threads()).body.threads.filter((thread) => thread.inbox_id === inbox_address)
    expect(mine).toHaveLength(1)
    const thread_id = mine[0]?.thread_id
    await markDeleted(db, inbox)
    await holding(db, async (tx) => {
      // The purge passes over rows that are locked.
      await tx.query(sql<never, [string]>('select from deleted_scopes where id = $1 for update'), scope.inbox_uid)
      expect((await threads()).body.threads).not.toContainEqual(expect.objectContaining({ thread_id }))
      expect((await fixture.call(wide, 'threads.get', 'GET', `/threads/${thread_id}`)).status).toBe(404)
      expect((await fetch(raw.body.download_url.replace('http://public.test/v0', fixture.url))).status).toBe(404)
    })
  })
})

/** As the event of its deletion does. */
async function markDeleted(db: Fixture['db'], { caller: _, ...inbox }: TestInbox): Promise<void> {
  const deletion = deletionOfInbox({ ...inbox, deleted_at: new Date().toISOString() })
  await db.transaction((tx) => scopeTombstones.store(tx, deletion))
}
