import { randomUUID } from 'node:crypto'
import { domainsProjection, registrations } from '@restante/domains'
import { deliverOnce, deliverShuffled, deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { ServiceClient } from '@restante/service/http'
import { countRows, organizationDeletedEvent, queryRows } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'
import { purgeScope, tenancyOf } from '../mailbox-fixture.ts'
import { changed, deleted, type Identity, newRegistration, stateOf as stateOfOwner } from './registrations.ts'

let fixture: Fixture
let projection: ReturnType<typeof domainsProjection>
let consumer: typeof projection.consumer
let owner: ServiceClient

const NONE = {
  inbound_enabled: false,
  subdomains_enabled: false,
  feedback_enabled: false,
  proven: false,
  sending_ready: false,
  return_path: null,
  tracking_host: null,
}
const rowsOf = (organizationId: string) =>
  countRows(fixture.db, 'registered_domains where organization_id = $1', organizationId)

beforeAll(async () => {
  fixture = await openFixture()
  owner = new ServiceClient({ from: 'mail-ingest', to: 'domains-dns', ...fixture.config.peers.of('domains-dns') })
  projection = domainsProjection({ service: 'mail-ingest', kafka: fixture.topics.kafka, db: fixture.db, owner })
  consumer = projection.consumer
})
afterAll(async () => {
  await owner.stop()
  await fixture.stop()
})

const newName = () => `d${randomUUID().slice(0, 8)}.test`
const stateOf = async ({ domain }: Identity) => registrations.named(fixture.db, [domain])

describe('the projection of domains', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'ends the same in any order and repetition: registered, changed, deleted and registered again (seed %i)',
    async (seed) => {
      const first = newRegistration(newName())
      const { organization_id, domain } = first
      const again = newRegistration(domain, organization_id)
      const elsewhere = newRegistration(domain)
      const sends = { proven: true, sending_ready: true, return_path: `rp.${domain}` }
      await deliverShuffled(
        consumer,
        seed,
        ...[changed(first, 1), changed(first, 2, { inbound_enabled: false }), deleted(first, 3)],
        ...[
          changed(again, 1),
          changed(again, 2, { subdomains_enabled: true, feedback_enabled: false, tracking_host: `link.${domain}` }),
        ],
        changed(elsewhere, 1),
      )
      const found = await stateOf(first)
      expect(found).toHaveLength(3)
      expect(found).toEqual(
        expect.arrayContaining([
          { id: first.domain_uid, organization_id, domain, ...NONE, deleted: true },
          {
            ...{ id: again.domain_uid, organization_id, domain, ...NONE, ...sends },
            ...{ inbound_enabled: true, subdomains_enabled: true, tracking_host: `link.${domain}`, deleted: false },
          },
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
    await queryRows(fixture.db, 'delete from registered_domains')
    const of = newRegistration(newName())
    expect(await registrations.anyWithFeedback(fixture.db)).toBe(false)
    await deliverOnce(consumer, changed(of, 1, { feedback_enabled: true }))
    expect(await registrations.anyWithFeedback(fixture.db)).toBe(true)
    await deliverOnce(consumer, changed(of, 2, { feedback_enabled: false }))
    expect(await registrations.anyWithFeedback(fixture.db)).toBe(false)
    await deliverOnce(consumer, changed(of, 3, { feedback_enabled: true }))
    await deliverOnce(consumer, deleted(of, 4))
    expect(await registrations.anyWithFeedback(fixture.db)).toBe(false)
  })
})

describe('the comparison with the owner of domains', () => {
  beforeEach(async () => {
    fixture.domainsDns.registered.clear()
    await queryRows(fixture.db, 'delete from registered_domains')
  })
  const own = (of: Identity, version = 1) => fixture.domainsDns.registered.set(of.domain_uid, stateOfOwner(of, version))

  it('adds what no event brought, over several pages', async () => {
    const all = Array.from({ length: 450 }, () => newRegistration(newName()))
    for (const of of all) own(of)
    await projection.reconcile()
    expect(await countRows(fixture.db, 'registered_domains where proven')).toBe(450)
  })

  it('deletes what its owner no longer has, and keeps what is newer than the owner said', async () => {
    const [kept, lost] = [newRegistration(newName()), newRegistration(newName())]
    own(kept)
    await deliverOnce(consumer, changed(kept, 2, { inbound_enabled: false }))
    await deliverOnce(consumer, changed(lost, 1))
    // A comparison keeps what was written in the millisecond in which it began.
    await queryRows(fixture.db, "update registered_domains set reconciled_at = reconciled_at - interval '1 second'")
    await projection.reconcile()
    expect(await stateOf(kept)).toMatchObject([{ inbound_enabled: false }])
    expect(await stateOf(lost)).toEqual([])
  })

  it('leaves out the domains of an organization whose deletion is known here', async () => {
    const tenancy = await tenancyOf(fixture)
    const late = newRegistration(newName())
    await deliverOnce(tenancy.consumer, organizationDeletedEvent(late.organization_id))
    own(late)
    await projection.reconcile()
    expect(await stateOf(late)).toEqual([])
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
      `insert into registered_domains (id, organization_id, domain, inbound_enabled, subdomains_enabled,
                                       feedback_enabled, sending_ready, version)
       select gen_random_uuid(), $1::uuid, 'x' || number || '.test', true, true, true, true, 1 from generate_series(1, 1200) as number`,
      organization,
    )
    await deliverOnce(tenancy.consumer, organizationDeletedEvent(organization))
    await purgeScope(fixture, tenancy, organization)
    expect([await rowsOf(organization), await rowsOf(neighbour)]).toEqual([0, 1])
  })

  it('drops registrations that are published after it', async () => {
    const tenancy = await tenancyOf(fixture)
    const late = newRegistration(newName())
    await deliverOnce(tenancy.consumer, organizationDeletedEvent(late.organization_id))
    await purgeScope(fixture, tenancy, late.organization_id)
    await deliverTwiceAndSwapped(consumer, changed(late), deleted(late))
    expect(await rowsOf(late.organization_id)).toBe(0)
  })
})
