import { randomUUID } from 'node:crypto'
import { type BlobStore, openBlobStore } from '@restante/blobs'
import { Schedule } from '@restante/jobs'
import { Outbox } from '@restante/messaging'
import { deliverShuffled } from '@restante/messaging/testing'
import { createLogger } from '@restante/service/telemetry'
import type { Tenancy } from '@restante/tenancy'
import {
  countRows,
  inboxDeletedEvent,
  organizationDeletedEvent,
  organizationTakenOverEvent,
  queryRows,
} from '@restante/testkit'
import { fileBlob } from '../../src/files/store.ts'
import { Sweeper } from '../../src/retention/sweeper.ts'
import { openTenancy } from '../../src/tenancy/open-tenancy.ts'
import type { SendTimers } from '../../src/timers/kinds.ts'
import { type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'
import { purgeAll } from '../support/purging.ts'

type SendingCaller = ReturnType<typeof inboxCaller>

let fixture: Fixture
let blobs: BlobStore
let tenancy: Tenancy
const log = createLogger({ service: 'test', level: 'silent' })

beforeAll(async () => {
  fixture = await startWorld()
  blobs = await openBlobStore(fixture.config.blobStore)
  const { db, topics } = fixture
  const outbox = new Outbox({ db, service: 'mail-send' })
  tenancy = openTenancy({ kafka: topics.kafka, db, log, outbox, blobs, timers: new Schedule<SendTimers>() })
})
afterAll(() => fixture.stop())

/** Creates a scheduled draft with an attachment. @returns its id and the id of the attachment. */
async function create(caller: SendingCaller) {
  const body = {
    to: 'ann@outside.example',
    send_at: '2031-01-01T00:00:00Z',
    attachments: [{ filename: 'a.txt', content: 'QQ==' }],
  }
  const answer = await fixture.call('drafts.create', caller, { path: '/drafts', body })
  const [file] = (answer.body.attachments ?? []) as { attachment_id: string }[]
  return { status: answer.status, id: String(answer.body.draft_id), file: file?.attachment_id ?? '' }
}

const timersOf = (id: string) => countRows(fixture.db, "timers where kind = 'draft-send' and key = $1", id)

describe('drafts end', () => {
  it('with their inbox, their bytes and timers too, and none is created afterwards', async () => {
    const caller = inboxCaller()
    const other = inboxCaller()
    const [draft, kept] = [await create(caller), await create(other)]
    const { organization_id: organizationId, inbox } = caller
    const { pod_id: podId, uid: inboxUid, address } = inbox
    await deliverShuffled(tenancy.consumer, 1, inboxDeletedEvent({ organizationId, podId, inboxUid, address }))
    // At once, whenever the purge comes.
    const listed = await fixture.call(
      'drafts.list',
      { ...caller, inbox: undefined },
      { method: 'GET', path: '/drafts' },
    )
    expect(listed.body).toMatchObject({ count: 0 })
    await purgeAll(fixture, tenancy)
    expect(await countRows(fixture.db, 'drafts where inbox_uid = $1', inboxUid)).toBe(0)
    expect(await countRows(fixture.db, 'files where inbox_uid = $1', inboxUid)).toBe(0)
    expect([await timersOf(draft.id), await timersOf(kept.id)]).toEqual([0, 1])
    expect(await blobs.exists(fileBlob(draft.file))).toBe(false)
    expect(await blobs.exists(fileBlob(kept.file))).toBe(true)
    expect((await create(caller)).status).toBe(404)
  })

  it('with their organization', async () => {
    const caller = inboxCaller()
    const draft = await create(caller)
    await deliverShuffled(tenancy.consumer, 1, organizationDeletedEvent(caller.organization_id))
    await purgeAll(fixture, tenancy)
    expect(await countRows(fixture.db, 'drafts where organization_id = $1', caller.organization_id)).toBe(0)
    expect(await timersOf(draft.id)).toBe(0)
    expect(await blobs.exists(fileBlob(draft.file))).toBe(false)
  })

  it('when a human confirms that the organization was taken over, those of earlier keys only', async () => {
    const earlier = inboxCaller()
    const successor = { ...earlier, take_overs: 1 }
    const [gone, kept] = [await create(earlier), await create(successor)]
    const { organization_id: organizationId } = earlier
    await deliverShuffled(tenancy.consumer, 1, organizationTakenOverEvent(organizationId, { takeOvers: 1 }))
    expect(await countRows(fixture.db, 'drafts where organization_id = $1', organizationId)).toBe(2)
    const confirmed = organizationTakenOverEvent(organizationId, { takeOvers: 1, verified: true })
    await deliverShuffled(tenancy.consumer, 2, confirmed)
    expect(await queryRows(fixture.db, 'select id from drafts where organization_id = $1', organizationId)).toEqual([
      { id: kept.id },
    ])
    expect([await timersOf(gone.id), await timersOf(kept.id)]).toEqual([0, 1])
    const deleted = `outbox where topic = 'mail.drafts' and type = 'draft.deleted' and subject = $1`
    expect(await countRows(fixture.db, deleted, gone.id)).toBe(1)
    // Requests that were admitted before the take-over arrive late.
    expect((await create(earlier)).status).toBe(401)
    const change = { method: 'PATCH', path: `/drafts/${kept.id}`, body: { text: 'late' } } as const
    expect((await fixture.call('drafts.update', earlier, change)).status).toBe(401)
  })
})

describe('the bytes of a file that no draft keeps', () => {
  it('are swept after an hour, those of a draft never', async () => {
    const caller = inboxCaller()
    const [gone, kept] = [await create(caller), await create(caller)]
    const path = `/drafts/${gone.id}`
    expect((await fixture.call('drafts.delete', caller, { method: 'DELETE', path })).status).toBe(204)
    // One that was announced and never written.
    const lost = randomUUID()
    const insert = 'insert into files (id, organization_id, inbox_uid) values ($1, $2, $3)'
    await queryRows(fixture.db, insert, lost, caller.organization_id, caller.inbox.uid)
    const sweeper = new Sweeper({ db: fixture.db, blobs, log })
    await sweeper.sweep()
    expect(await blobs.exists(fileBlob(gone.file))).toBe(true)
    await queryRows(fixture.db, "update files set touched_at = now() - interval '61 minutes'")
    await sweeper.sweep()
    expect(await blobs.exists(fileBlob(gone.file))).toBe(false)
    expect(await blobs.exists(fileBlob(kept.file))).toBe(true)
    expect(await countRows(fixture.db, 'files where id = any($1)', [gone.file, kept.file, lost])).toBe(1)
  })
})
