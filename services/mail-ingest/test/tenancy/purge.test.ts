import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { openBlobStore } from '@restante/blobs'
import { deliverShuffled } from '@restante/messaging/testing'
import { sql } from '@restante/service/database'
import { callerOf, countRows, inboxDeletedEvent, organizationDeletedEvent, queryRows, waitFor } from '@restante/testkit'
import { rawMails } from '../../src/raw/store.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { LARGE_TEXT, pathOf, receiveMail, sentCopy, tenancyOf } from '../mailbox-fixture.ts'

/** Tombstones of one organization that have been due for an hour, and one of another that is due now. */
const MANY_DELETED = sql<never, [large: string, small: string, count: number]>(`
insert into deleted_scopes (id, kind, organization_id, pod_id, address, deleted_at, due_at)
select gen_random_uuid(), 'inbox', $1::uuid, $1::uuid, 'one@restante.test', now(), now() - interval '1 hour' from generate_series(1, $3::int)
union all
select gen_random_uuid(), 'inbox', $2::uuid, $2::uuid, 'one@restante.test', now(), now()`)

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

/** What the metrics tell of purges. */
async function waiting(): Promise<{ inboxes: number; oldest: number }> {
  const metrics = await (await fetch(fixture.metricsUrl)).text()
  const read = (name: string) => Number(new RegExp(`^${name}{of="inbox"} (.+)$`, 'm').exec(metrics)?.[1])
  return { inboxes: read('restante_purges_waiting'), oldest: read('restante_purges_oldest_seconds') }
}

interface Tombstone {
  readonly deleted_at: Date
  readonly due_at: Date
  readonly purged_at: Date | null
}
const tombstone = async ({ inbox_uid }: TestInbox) =>
  (await queryRows<Tombstone>(fixture.db, 'select * from deleted_scopes where id = $1', inbox_uid))[0]
const purged = (of: TestInbox) => waitFor(async () => (await tombstone(of))?.purged_at, { what: 'the purge' })
const ask = ({ address, inbox_uid, organization_id, pod_id }: TestInbox) =>
  fixture.gatewayPeer('mail-ingest.purgeInbox', {
    ...{ organization_id, pod_id, inbox_uid, address },
    deleted_at: new Date().toISOString(),
  })
const bury = ({ address, inbox_uid, organization_id, pod_id }: TestInbox, deletedAt: Date, dueAt: Date) =>
  queryRows(
    fixture.db,
    `insert into deleted_scopes (id, kind, organization_id, pod_id, address, deleted_at, due_at)
     values ($1, 'inbox', $2, $3, $4, $5, $6)`,
    ...[inbox_uid, organization_id, pod_id, address, deletedAt, dueAt],
  )

/** Blobs whose names hold the uid of an inbox. */
async function copiesOf(of: TestInbox): Promise<string[]> {
  const files = await readdir(path.join(fixture.blobs, 'mailbox', of.inbox_uid), {
    recursive: true,
    withFileTypes: true,
  })
  return files.filter((file) => file.isFile()).map(({ name }) => name)
}

/** Where the store keeps a blob. */
async function fileOf(blob: string): Promise<string> {
  const name = path.basename(blob)
  const files = await readdir(fixture.blobs, { recursive: true, withFileTypes: true })
  const found = files.find((file) => file.isFile() && file.name === name)
  if (!found) throw new Error(`${blob} is not there`)
  return path.join(found.parentPath, found.name)
}

describe('the purge of an inbox', () => {
  it('is complete when its bytes are deleted too, including blobs written twice', async () => {
    const copy = await sentCopy(fixture, inbox, { text: LARGE_TEXT })
    await Promise.all(Array.from({ length: 4 }, () => fixture.peer('mail-ingest.placeSent', copy)))
    await receiveMail(fixture, inbox)
    expect(await copiesOf(inbox)).not.toEqual([])
    await fixture.deleteInbox(inbox)
    await purged(inbox)
    expect(await copiesOf(inbox)).toEqual([])
    expect(await countRows(fixture.db, 'raw_mails where strpos(blob, $1) > 0', inbox.inbox_uid)).toBe(0)
  })

  it('waits for a copy that is being written, and deletes what a dead process left of one', async () => {
    const blob = `mailbox/${inbox.inbox_uid}/${randomUUID()}`
    await rawMails.reserve(fixture.db, [blob])
    const blobs = await openBlobStore(`directory:${fixture.blobs}`)
    await blobs.start()
    await blobs.put(blob, Buffer.from('half of a copy'))
    await fixture.deleteInbox(inbox)
    const looked = await waitFor(
      async () => {
        const row = await tombstone(inbox)
        return row && row.due_at > row.deleted_at && row
      },
      { what: 'a first look' },
    )
    expect(looked.purged_at).toBeNull()
    await fixture.db.query(
      sql<never, [string]>("update raw_mails set updated_at = now() - interval '6 minutes' where blob = $1"),
      blob,
    )
    await purged(inbox)
    expect(await copiesOf(inbox)).toEqual([])
  })

  it('continues for others while it fails for one, which is retried', async () => {
    const stuck = await fixture.inbox()
    await receiveMail(fixture, stuck, { text: LARGE_TEXT })
    await receiveMail(fixture, inbox)
    const text = 'select blob from messages where inbox_uid = $1'
    const [stored] = await queryRows<{ blob: string }>(fixture.db, text, stuck.inbox_uid)
    const file = await fileOf(stored?.blob ?? '')
    // A store that does not delete these bytes, whatever the reason.
    await rm(file)
    await mkdir(path.join(file, 'in the way'), { recursive: true })
    await fixture.deleteInbox(stuck)
    await waitFor(() => tombstone(stuck), { what: 'the deletion' })
    await fixture.deleteInbox(inbox)
    await purged(inbox)
    expect(await tombstone(stuck)).toMatchObject({ purged_at: null })
    await rm(file, { recursive: true })
    await fixture.db.query(sql<never>('update deleted_scopes set due_at = now()'))
    await purged(stuck)
    expect(await countRows(fixture.db, 'messages where inbox_uid = $1', stuck.inbox_uid)).toBe(0)
  })

  it('does not wait for another organization, however much that one has deleted before', async () => {
    const { db } = fixture
    const [large, small] = [randomUUID(), randomUUID()]
    await db.query(MANY_DELETED, large, small, 200)
    await waitFor(
      async () => (await countRows(db, 'deleted_scopes where organization_id = $1 and purged_at is null', large)) === 0,
      {
        what: 'all purges',
      },
    )
    const before = 'purged_at < (select purged_at from deleted_scopes where organization_id = $2)'
    const earlier = await countRows(db, `deleted_scopes where organization_id = $1 and ${before}`, large, small)
    expect(earlier).toBeLessThan(10)
  })

  it('is counted while it waits, with the time since the deletion', async () => {
    const hourAgo = new Date(Date.now() - 3_600_000)
    const { inbox_uid: inboxUid } = inbox
    await bury(inbox, hourAgo, new Date(Date.now() + 3_600_000))
    await waitFor(async () => (await waiting()).oldest >= 3_600, { what: 'the metric' })
    expect((await waiting()).inboxes).toBeGreaterThan(0)
    await queryRows(fixture.db, 'update deleted_scopes set due_at = $2 where id = $1', inboxUid, hourAgo)
    await waitFor(async () => (await waiting()).inboxes === 0, { what: 'nothing to wait' })
    expect((await waiting()).oldest).toBe(0)
  })

  it('hides everything as soon as the deletion is consumed', async () => {
    const id = await receiveMail(fixture, inbox, { subject: 'hidden' })
    const { organization_id, inbox_uid: inboxUid } = inbox
    const organization = callerOf({ organization_id })
    const threads = () => fixture.call(organization, 'threads.list', 'GET', '/threads')
    const raw = await fixture.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
    const link = raw.body.download_url.replace('http://public.test/v0', fixture.url)
    const found = (await threads()).body.threads.find(({ subject }) => subject === 'hidden')
    const thread = () => fixture.call(organization, 'threads.get', 'GET', `/threads/${found?.thread_id}`)
    expect([(await thread()).status, (await fetch(link)).status]).toEqual([200, 200])

    const anHour = 3_600_000
    await bury(inbox, new Date(), new Date(Date.now() + anHour))
    expect([(await thread()).status, (await fetch(link)).status]).toEqual([404, 404])
    expect((await threads()).body.threads.map(({ subject }) => subject)).not.toContain('hidden')
    expect(await countRows(fixture.db, 'messages where inbox_uid = $1', inboxUid)).toBe(1)
    await queryRows(fixture.db, 'update deleted_scopes set due_at = $2 where id = $1', inboxUid, new Date())
    await purged(inbox)
  })

  it("starts at the gateway's request when the event was not consumed", async () => {
    await receiveMail(fixture, inbox)
    expect(await ask(inbox)).toEqual({ purged: false })
    await waitFor(async () => (await ask(inbox)).purged, { what: 'the purge' })
    expect(await countRows(fixture.db, 'messages where inbox_uid = $1', inbox.inbox_uid)).toBe(0)
  })

  it('does not fail on a copy whose bytes are deleted already', async () => {
    const copy = await sentCopy(fixture, inbox)
    await fixture.deleteInbox(inbox)
    const lost = { ...copy, blob: { ...copy.blob, name: `outbound/${randomUUID()}` } }
    await fixture.peer('mail-ingest.placeSent', lost)
    // An inbox that is there must not lose a message in silence.
    const living = await fixture.inbox()
    const theirs = await sentCopy(fixture, living)
    const missing = fixture.peer('mail-ingest.placeSent', { ...theirs, blob: lost.blob })
    await expect(missing).rejects.toThrow('500')
  })
})

describe('the deletion of an organization', () => {
  it.each([1, 2, 3])(
    'deletes the records that it received mail and was taken over, and its addresses, in any order of events (seed %i)',
    async (seed) => {
      const { db } = fixture
      const organizationId = randomUUID()
      const [one, two] = [await fixture.inbox(), await fixture.inbox()].map(
        ({ address, inbox_uid: inboxUid, pod_id: podId }) => ({ address, inboxUid, podId, organizationId }),
      )
      if (!one || !two) throw new Error('no inboxes')
      await queryRows(
        db,
        'insert into receiving_organizations (organization_id, since) values ($1, $2)',
        organizationId,
        new Date(),
      )
      await queryRows(db, 'insert into take_overs (organization_id, take_overs) values ($1, 1)', organizationId)
      const { consumer } = await tenancyOf(fixture)
      await deliverShuffled(
        consumer,
        seed,
        inboxDeletedEvent(one),
        organizationDeletedEvent(organizationId),
        inboxDeletedEvent(two),
      )
      const gone = 'deleted_scopes where id = $1 and purged_at is not null'
      await waitFor(async () => (await countRows(db, gone, organizationId)) === 1, { what: 'the purge' })
      expect(await countRows(db, 'receiving_organizations where organization_id = $1', organizationId)).toBe(0)
      expect(await countRows(db, 'take_overs where organization_id = $1', organizationId)).toBe(0)
      const left = await queryRows(
        db,
        "select address from deleted_scopes where organization_id = $1 and kind = 'inbox'",
        organizationId,
      )
      expect(left).toEqual([{ address: null }, { address: null }])
    },
  )
})
