import { randomUUID } from 'node:crypto'
import { deliverOnce, deliverShuffled, deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { countRows, organizationDeletedEvent, queryRows } from '@restante/testkit'
import { domainsConsumer } from '../../src/domains/consumers.ts'
import { domains } from '../../src/domains/store.ts'
import { type Fixture, openFixture } from '../fixture.ts'
import { tenancyOf } from '../mailbox-fixture.ts'
import { changed, deleted, type Identity, newRegistration } from './registrations.ts'

let fixture: Fixture
let consumer: ReturnType<typeof domainsConsumer>

const NONE = { inbound_enabled: false, subdomains_enabled: false, feedback_enabled: false }
const rowsOf = (organizationId: string) => countRows(fixture.db, 'domains where organization_id = $1', organizationId)

beforeAll(async () => {
  fixture = await openFixture()
  consumer = domainsConsumer({ kafka: fixture.topics.kafka, db: fixture.db })
}, 60_000)
afterAll(() => fixture.stop(), 30_000)

const newName = () => `d${randomUUID().slice(0, 8)}.test`
const stateOf = async ({ domain }: Identity) => domains.named(fixture.db, [domain])

describe('the projection of domains', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'ends the same in any order and repetition: registered, changed, deleted and registered again (seed %i)',
    async (seed) => {
      const first = newRegistration(newName())
      const { organization_id, domain } = first
      const again = newRegistration(domain, organization_id)
      const elsewhere = newRegistration(domain)
      await deliverShuffled(
        consumer,
        seed,
        ...[changed(first, 1), changed(first, 2, { inbound_enabled: false }), deleted(first, 3)],
        ...[changed(again, 1), changed(again, 2, { subdomains_enabled: true, feedback_enabled: false })],
        changed(elsewhere, 1),
      )
      const found = await stateOf(first)
      expect(found).toHaveLength(3)
      expect(found).toEqual(
        expect.arrayContaining([
          { organization_id, domain, ...NONE, deleted: true },
          { organization_id, domain, ...NONE, inbound_enabled: true, subdomains_enabled: true, deleted: false },
          expect.objectContaining({ organization_id: elsewhere.organization_id, deleted: false }),
        ]),
      )
    },
  )

  it('does not restore a deleted registration by an older event', async () => {
    const of = newRegistration(newName())
    await deliverTwiceAndSwapped(consumer, changed(of, 1), deleted(of, 2))
    await deliverOnce(consumer, changed(of, 1))
    expect(await stateOf(of)).toMatchObject([{ deleted: true }])
  })

  it('tells whether any live registration wants copies of reports', async () => {
    await queryRows(fixture.db, 'delete from domains')
    const of = newRegistration(newName())
    expect(await domains.anyWithFeedback(fixture.db)).toBe(false)
    await deliverOnce(consumer, changed(of, 1, { feedback_enabled: true }))
    expect(await domains.anyWithFeedback(fixture.db)).toBe(true)
    await deliverOnce(consumer, changed(of, 2, { feedback_enabled: false }))
    expect(await domains.anyWithFeedback(fixture.db)).toBe(false)
    await deliverOnce(consumer, changed(of, 3, { feedback_enabled: true }))
    await deliverOnce(consumer, deleted(of, 4))
    expect(await domains.anyWithFeedback(fixture.db)).toBe(false)
  })
})

describe('the deletion of an organization', () => {
  it('deletes its domains in batches, deleted ones too, and no others', async () => {
    const tenancy = await tenancyOf(fixture)
    const [organization, neighbour] = [randomUUID(), randomUUID()]
    const [kept, gone] = [newRegistration(newName(), organization), newRegistration(newName(), organization)]
    await deliverOnce(consumer, changed(kept))
    await deliverTwiceAndSwapped(consumer, changed(gone), deleted(gone))
    await deliverOnce(consumer, changed(newRegistration(newName(), neighbour)))
    await queryRows(
      fixture.db,
      `insert into domains (id, organization_id, domain, inbound_enabled, subdomains_enabled, feedback_enabled, version)
       select gen_random_uuid(), $1::uuid, 'x' || number || '.test', true, true, true, 1 from generate_series(1, 1200) as number`,
      organization,
    )
    await deliverOnce(tenancy.consumer, organizationDeletedEvent(organization))
    await tenancy.purge()
    expect([await rowsOf(organization), await rowsOf(neighbour)]).toEqual([0, 1])
  })

  it('drops registrations that are published after it', async () => {
    const tenancy = await tenancyOf(fixture)
    const late = newRegistration(newName())
    await deliverOnce(tenancy.consumer, organizationDeletedEvent(late.organization_id))
    await tenancy.purge()
    await deliverTwiceAndSwapped(consumer, changed(late), deleted(late))
    expect(await rowsOf(late.organization_id)).toBe(0)
  })
})
