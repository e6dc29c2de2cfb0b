import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { countRows, organizationDeletedEvent, podDeletedEvent, queryRows, waitFor } from '@restante/testkit'
import { type Fixture, newName, startFixture, tenant } from '../support/fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
})
afterAll(() => fixture.stop())
afterEach(() => fixture.peers.reset())

const remove = (caller: Parameters<Fixture['call']>[1], domain: string) =>
  fixture.call('domains.delete', caller, { domain })

const publishedDeletion = (uid: string) =>
  fixture.states.next(({ key, type }) => key === uid && type === 'domain.deleted', { what: 'the deletion' })

describe('a deleted domain', () => {
  it('is gone with its key and its checks, and published as deleted', async () => {
    const { owner, id } = tenant()
    const { domain } = await fixture.register(owner)
    const { uid, version } = await fixture.row(owner, domain)
    const { status, text } = await remove(owner, domain)
    expect([status, text]).toEqual([204, ''])
    expect((await fixture.call('domains.get', owner, { domain })).status).toBe(404)
    expect(await countRows(fixture.db, 'domain_keys where domain_uid = $1', uid)).toBe(0)
    await waitFor(async () => (await countRows(fixture.db, 'timers where key = $1', uid)) === 0, {
      what: 'a running check to end',
    })
    const payload = JSON.parse((await publishedDeletion(uid)).value)
    expect(payload).toMatchObject({ organization_id: id, domain_uid: uid, domain })
    expect(payload.version).toBeGreaterThan(version)
  })

  it('is 404 at the second deletion', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    expect((await remove(owner, domain)).status).toBe(204)
    expect((await remove(owner, domain)).status).toBe(404)
  })

  it('is deleted once by concurrent requests', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const { uid } = await fixture.row(owner, domain)
    const answers = await Promise.all(Array.from({ length: 4 }, () => remove(owner, domain)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 404, 404, 404])
    await publishedDeletion(uid)
    expect(fixture.states.records.filter(({ key, type }) => key === uid && type === 'domain.deleted')).toHaveLength(1)
  })

  it('may be registered again at once by its organization, with another key and the same client_id', async () => {
    const { owner } = tenant()
    const first = await fixture.register(owner, { client_id: 'mine' })
    await queryRows(
      fixture.db,
      "update domains set status = 'VERIFIED', last_verified_at = now() where name = $1",
      first.domain,
    )
    await remove(owner, first.domain)
    const second = await fixture.register(owner, { domain: first.domain, client_id: 'mine' })
    expect(second.status).toBe('NOT_STARTED')
    const keys = [first, second].map(({ records }) => records.find(({ name }) => name.includes('_domainkey'))?.value)
    expect(keys[0]).not.toBe(keys[1])
  })

  it('leaves no proof of a name that was not verified in the last 30 days', async () => {
    const { owner } = tenant()
    const [never, lately, before] = [
      await fixture.register(owner),
      await fixture.register(owner),
      await fixture.register(owner),
    ]
    await queryRows(fixture.db, 'update domains set last_verified_at = now() where name = $1', lately.domain)
    await queryRows(
      fixture.db,
      "update domains set last_verified_at = now() - interval '31 days' where name = $1",
      before.domain,
    )
    for (const { domain } of [never, lately, before]) await remove(owner, domain)
    const left = await queryRows<{ name: string }>(
      fixture.db,
      'select name from former_proofs where organization_id = $1',
      owner.organization_id,
    )
    expect(left).toEqual([{ name: lately.domain }])
  })
})

describe('a deleted pod', () => {
  it('takes its domains along and no others', async () => {
    const { owner, inPod, id } = tenant()
    const [gone, kept] = [randomUUID(), randomUUID()]
    const own = await fixture.register(inPod(gone))
    const others = [await fixture.register(owner), await fixture.register(inPod(kept))]
    const { uid } = await fixture.row(owner, own.domain)
    await fixture.events.publish(topics.tenancy, podDeletedEvent(id, gone))
    await publishedDeletion(uid)
    expect((await fixture.call('domains.get', owner, { domain: own.domain })).status).toBe(404)
    for (const { domain } of others) expect((await fixture.call('domains.get', owner, { domain })).status).toBe(200)
    const late = await fixture.call('domains.create', inPod(gone), { body: { domain: newName() } })
    expect([late.status, late.body['message']]).toEqual([404, 'Pod not found'])
  })
})

describe('a deleted organization', () => {
  it('takes all its domains along, whatever is registered while it is deleted', async () => {
    const { owner, inPod, id } = tenant()
    const stranger = tenant().owner
    const kept = await fixture.register(stranger)
    const made = [await fixture.register(owner), await fixture.register(inPod(id))]
    const uids = await Promise.all(made.map(async ({ domain }) => (await fixture.row(owner, domain)).uid))
    let published: Promise<void> | undefined
    // The deletion is announced while creates are between the gateway's answer and their transaction.
    fixture.peers.answers['gateway.confirmCaller'] = async ({ caller }) => {
      published ??= fixture.events.publish(topics.tenancy, organizationDeletedEvent(id))
      return { status: 'confirmed', caller }
    }
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => fixture.call('domains.create', owner, { body: { domain: newName() } })),
    )
    for (const { status } of answers) expect([200, 401]).toContain(status)
    if (!published) await fixture.events.publish(topics.tenancy, organizationDeletedEvent(id))
    await Promise.all(uids.map(publishedDeletion))
    expect(await countRows(fixture.db, 'domains where organization_id = $1', id)).toBe(0)
    expect((await fixture.call('domains.get', stranger, { domain: kept.domain })).status).toBe(200)
    const late = await fixture.call('domains.create', owner, { body: { domain: newName() } })
    expect([late.status, late.body['code']]).toEqual([401, 'unknown_api_key'])
  })
})
