import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { openBlobStore } from '@restante/blobs'
import { deliverShuffled } from '@restante/messaging/testing'
import { sql } from '@restante/service'
import { callerOf, inboxDeletedEvent, organizationDeletedEvent, waitFor } from '@restante/testkit'
import { rawMails } from '../src/raw/store.ts'
import { tenancyConsumer } from '../src/tenancy/consumers.ts'
import { pathOf, receiveMail, sentCopy } from './mailbox-fixture.ts'
import { openStage, type Stage, type TestInbox } from './stage.ts'

/** Tombstones of one organization that have been due for an hour, and one of another that is due now. */
const MANY_DELETED = sql<never, [large: string, small: string, count: number]>(`
insert into deleted_inboxes (inbox_uid, organization_id, pod_id, address, deleted_at, due_at)
select gen_random_uuid(), $1::uuid, $1::uuid, 'one@restante.test', now(), now() - interval '1 hour' from generate_series(1, $3::int)
union all
select gen_random_uuid(), $2::uuid, $2::uuid, 'one@restante.test', now(), now()`)

let stage: Stage
let inbox: TestInbox

beforeAll(async () => {
  stage = await openStage()
}, 60_000)
afterAll(() => stage.stop(), 30_000)
beforeEach(async () => {
  inbox = await stage.inbox()
})

/** What the metrics tell of purges. */
async function waiting(): Promise<{ inboxes: number; oldest: number }> {
  const metrics = await (await fetch(stage.metricsUrl)).text()
  const read = (name: string) => Number(new RegExp(`^${name}{of="inbox"} (.+)$`, 'm').exec(metrics)?.[1])
  return { inboxes: read('restante_purges_waiting'), oldest: read('restante_purges_oldest_seconds') }
}

const tombstone = ({ inbox_uid: inboxUid }: TestInbox) => stage.db.orm.deletedInbox.findUnique({ where: { inboxUid } })
const purged = (of: TestInbox) =>
  waitFor(async () => (await tombstone(of))?.purgedAt, { what: 'the purge', timeout: 20_000 })
const ask = ({ address, inbox_uid, organization_id, pod_id }: TestInbox) =>
  stage.gatewayPeer('mail-ingest.purgeInbox', {
    ...{ organization_id, pod_id, inbox_uid, address },
    deleted_at: new Date().toISOString(),
  })
const scopeOf = ({ address, inbox_uid: inboxUid, organization_id: organizationId, pod_id: podId }: TestInbox) => ({
  ...{ organizationId, podId, inboxUid, address },
})

/** Blobs whose names hold the uid of an inbox. */
async function copiesOf(of: TestInbox): Promise<string[]> {
  const files = await readdir(path.join(stage.blobs, 'mailbox', of.inbox_uid), { recursive: true, withFileTypes: true })
  return files.filter((file) => file.isFile()).map(({ name }) => name)
}

/** Where the store keeps a blob. */
async function fileOf(blob: string): Promise<string> {
  const name = path.basename(blob)
  const files = await readdir(stage.blobs, { recursive: true, withFileTypes: true })
  const found = files.find((file) => file.isFile() && file.name === name)
  if (!found) throw new Error(`${blob} is not there`)
  return path.join(found.parentPath, found.name)
}

describe('the purge of an inbox', () => {
  it('is complete when its bytes are deleted too, including blobs written twice', async () => {
    const copy = await sentCopy(stage, inbox)
    await Promise.all(Array.from({ length: 4 }, () => stage.peer('mail-ingest.placeSent', copy)))
    await receiveMail(stage, inbox)
    expect(await copiesOf(inbox)).not.toEqual([])
    await stage.deleteInbox(inbox)
    await purged(inbox)
    expect(await copiesOf(inbox)).toEqual([])
    expect(await stage.db.orm.rawMail.count({ where: { blob: { contains: inbox.inbox_uid } } })).toBe(0)
  })

  it('waits for a copy that is being written, and deletes what a dead process left of one', async () => {
    const blob = `mailbox/${inbox.inbox_uid}/${randomUUID()}`
    await rawMails.reserve(stage.db, [blob])
    const blobs = await openBlobStore(`directory:${stage.blobs}`)
    await blobs.start()
    await blobs.put(blob, Buffer.from('half of a copy'))
    await stage.deleteInbox(inbox)
    const looked = await waitFor(
      async () => {
        const row = await tombstone(inbox)
        return row && row.dueAt > row.deletedAt && row
      },
      { what: 'a first look' },
    )
    expect(looked.purgedAt).toBeNull()
    await stage.db.query(
      sql<never, [string]>("update raw_mails set updated_at = now() - interval '6 minutes' where blob = $1"),
      blob,
    )
    await purged(inbox)
    expect(await copiesOf(inbox)).toEqual([])
  })

  it('continues for others while it fails for one, which is retried', async () => {
    const stuck = await stage.inbox()
    await receiveMail(stage, stuck)
    await receiveMail(stage, inbox)
    const { blob } = await stage.db.orm.message.findFirstOrThrow({ where: { inboxUid: stuck.inbox_uid } })
    const file = await fileOf(blob)
    // A store that does not delete these bytes, whatever the reason.
    await rm(file)
    await mkdir(path.join(file, 'in the way'), { recursive: true })
    await stage.deleteInbox(stuck)
    await waitFor(() => tombstone(stuck), { what: 'the deletion' })
    await stage.deleteInbox(inbox)
    await purged(inbox)
    expect(await tombstone(stuck)).toMatchObject({ purgedAt: null })
    await rm(file, { recursive: true })
    await stage.db.query(sql<never>('update deleted_inboxes set due_at = now()'))
    await purged(stuck)
    expect(await stage.db.orm.message.count({ where: { inboxUid: stuck.inbox_uid } })).toBe(0)
  }, 60_000)

  it('does not wait for another organization, however much that one has deleted before', async () => {
    const { db } = stage
    const [large, small] = [randomUUID(), randomUUID()]
    await db.query(MANY_DELETED, large, small, 200)
    await waitFor(
      async () => (await db.orm.deletedInbox.count({ where: { organizationId: large, purgedAt: null } })) === 0,
      {
        what: 'all purges',
        timeout: 20_000,
      },
    )
    const { purgedAt } = await db.orm.deletedInbox.findFirstOrThrow({ where: { organizationId: small } })
    const before = { organizationId: large, purgedAt: { lt: purgedAt ?? new Date() } }
    expect(await db.orm.deletedInbox.count({ where: before })).toBeLessThan(10)
  }, 30_000)

  it('is counted while it waits, with the time since the deletion', async () => {
    const hourAgo = new Date(Date.now() - 3_600_000)
    const { address, inboxUid, organizationId, podId } = scopeOf(inbox)
    const row = {
      address,
      inboxUid,
      organizationId,
      podId,
      deletedAt: hourAgo,
      dueAt: new Date(Date.now() + 3_600_000),
    }
    await stage.db.orm.deletedInbox.create({ data: row })
    await waitFor(async () => (await waiting()).oldest >= 3_600, { what: 'the metric' })
    expect((await waiting()).inboxes).toBeGreaterThan(0)
    await stage.db.orm.deletedInbox.update({ where: { inboxUid }, data: { dueAt: hourAgo } })
    await waitFor(async () => (await waiting()).inboxes === 0, { what: 'nothing to wait' })
    expect((await waiting()).oldest).toBe(0)
  }, 30_000)

  it('hides everything as soon as the deletion is consumed', async () => {
    const id = await receiveMail(stage, inbox, { subject: 'hidden' })
    const { organization_id, inbox_uid: inboxUid } = inbox
    const organization = callerOf({ organization_id })
    const threads = () => stage.call(organization, 'threads.list', 'GET', '/threads')
    const raw = await stage.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
    const link = raw.body.download_url.replace('http://public.test/v0', stage.url)
    const found = (await threads()).body.threads.find(({ subject }) => subject === 'hidden')
    const thread = () => stage.call(organization, 'threads.get', 'GET', `/threads/${found?.thread_id}`)
    expect([(await thread()).status, (await fetch(link)).status]).toEqual([200, 200])

    const anHour = 3_600_000
    await stage.db.orm.deletedInbox.create({
      data: { ...scopeOf(inbox), deletedAt: new Date(), dueAt: new Date(Date.now() + anHour) },
    })
    expect([(await thread()).status, (await fetch(link)).status]).toEqual([404, 404])
    expect((await threads()).body.threads.map(({ subject }) => subject)).not.toContain('hidden')
    expect(await stage.db.orm.message.count({ where: { inboxUid } })).toBe(1)
    await stage.db.orm.deletedInbox.update({ where: { inboxUid }, data: { dueAt: new Date() } })
    await purged(inbox)
  })

  it("starts at the gateway's request when the event was not consumed", async () => {
    await receiveMail(stage, inbox)
    expect(await ask(inbox)).toEqual({ purged: false })
    await waitFor(async () => (await ask(inbox)).purged, { what: 'the purge' })
    expect(await stage.db.orm.message.count({ where: { inboxUid: inbox.inbox_uid } })).toBe(0)
  })

  it('does not fail on a copy whose bytes are deleted already', async () => {
    const copy = await sentCopy(stage, inbox)
    await stage.deleteInbox(inbox)
    const lost = { ...copy, blob: { ...copy.blob, name: `outbound/${randomUUID()}` } }
    await stage.peer('mail-ingest.placeSent', lost)
    // An inbox that is there must not lose a message in silence.
    const living = await stage.inbox()
    const theirs = await sentCopy(stage, living)
    const missing = stage.peer('mail-ingest.placeSent', { ...theirs, blob: lost.blob })
    await expect(missing).rejects.toThrow('500')
  })
})

describe('the deletion of an organization', () => {
  it.each([1, 2, 3])(
    'deletes the record that it received mail, and its addresses, in any order of events (seed %i)',
    async (seed) => {
      const { db, topics } = stage
      const organizationId = randomUUID()
      const [one, two] = [await stage.inbox(), await stage.inbox()].map((each) => ({
        ...scopeOf(each),
        organizationId,
      }))
      if (!one || !two) throw new Error('no inboxes')
      await db.orm.receivingOrganization.create({ data: { organizationId, since: new Date() } })
      const consumer = tenancyConsumer({ kafka: topics.kafka, db, notify: () => {}, notifyLabels: () => {} })
      await deliverShuffled(
        consumer,
        seed,
        inboxDeletedEvent(one),
        organizationDeletedEvent(organizationId),
        inboxDeletedEvent(two),
      )
      await waitFor(
        async () => (await db.orm.deletedOrganization.findUnique({ where: { organizationId } }))?.purgedAt,
        {
          what: 'the purge',
        },
      )
      expect(await db.orm.receivingOrganization.count({ where: { organizationId } })).toBe(0)
      const left = await db.orm.deletedInbox.findMany({ where: { organizationId } })
      expect(left.map(({ address }) => address)).toEqual([null, null])
    },
  )
})
