import { purgeOperations } from '@restante/contracts/internal'
import { ServiceClient } from '@restante/service/http'
import { waitFor } from '@restante/testkit'
import { PEER_KEY, startGateway, type TestGateway } from '../gateway.ts'

type Tenant = Awaited<ReturnType<TestGateway['organization']>>

describe('inboxes on custom domains', () => {
  let gateway: TestGateway
  let [mailIngest, domainsDns]: ServiceClient[] = []

  beforeAll(async () => {
    gateway = await startGateway({ SYSTEM_SENDER_NAME: 'Post Office' })
    const clientOf = (from: 'mail-ingest' | 'domains-dns') =>
      new ServiceClient({ from, to: 'gateway', url: gateway.url, key: PEER_KEY })
    ;[mailIngest, domainsDns] = [clientOf('mail-ingest'), clientOf('domains-dns')]
  })
  afterAll(async () => {
    await Promise.all([mailIngest?.stop(), domainsDns?.stop()])
    await gateway.stop()
  })

  /** An organization that may have inboxes on these domains. */
  async function tenantOn(...names: string[]): Promise<Tenant> {
    const tenant = await gateway.organization()
    for (const name of names) gateway.behind.inboxDomains.set(`${tenant.id} ${name}`, 'open')
    return tenant
  }

  const create = ({ api }: Tenant, username: string | undefined, domain: string, more: object = {}) =>
    api.post('/v0/inboxes', { username, domain, ...more })

  async function receivers(address: string) {
    const answer = await mailIngest?.call('gateway.resolveRecipients', { addresses: [address] })
    return answer?.recipients[0]
  }

  async function purged(address: string) {
    const stored = () => gateway.db.orm.inbox.count({ where: { address } })
    await waitFor(async () => (await stored()) === 0, { what: 'the purge' })
  }

  describe('POST /v0/inboxes', () => {
    it('creates an inbox on a domain that its owner opens, in A-labels and without a dot at its end', async () => {
      const tenant = await tenantOn('xn--bcher-kva.test')
      expect((await create(tenant, 'desk', 'Bücher.test')).body).toMatchObject({ inbox_id: 'desk@xn--bcher-kva.test' })
      expect((await create(tenant, undefined, 'bücher.test')).body['inbox_id']).toMatch(/^\w+@xn--bcher-kva\.test$/)
      const dotted = await create(tenant, 'dotted', 'Bücher.test.')
      expect(dotted.body).toMatchObject({ inbox_id: 'dotted@xn--bcher-kva.test' })
    })

    it.each([
      ['unknown', 404, 'not_found', 'Domain not found'],
      ['no_subdomains', 422, 'unprocessable', expect.stringContaining('without subdomains')],
      ['reserved', 422, 'unprocessable', expect.stringContaining('DNS record')],
      ['not_verified', 403, 'domain_not_verified', expect.any(String)],
    ] as const)(
      'refuses a domain that is %s with %i, before it looks at the address',
      async (outcome, status, code, message) => {
        const tenant = await gateway.organization()
        gateway.behind.inboxDomains.set(`${tenant.id} ${outcome.replace('_', '-')}.test`, outcome)
        const answer = await create(tenant, 'dmarc', `${outcome.replace('_', '-')}.test`)
        expect(answer).toMatchObject({ status, body: { code, message, fix: expect.any(String) } })
      },
    )

    it('refuses text that is no domain as unknown', async () => {
      expect(await create(await gateway.organization(), 'desk', 'no domain')).toMatchObject({ status: 404 })
    })

    it('answers a known client_id with its inbox, also while the owner of domains does not answer', async () => {
      const tenant = await tenantOn('again.test')
      const made = await create(tenant, 'desk', 'again.test', { client_id: 'desk' })
      gateway.behind.refusing.add('/internal/domains/inbox-domain')
      try {
        expect((await create(tenant, 'x', 'again.test', { client_id: 'desk' })).body).toEqual(made.body)
        expect(await create(tenant, 'x', 'again.test')).toMatchObject({ status: 503 })
      } finally {
        gateway.behind.refusing.clear()
      }
    })

    it('reserves only the addresses that the installation itself needs there', async () => {
      const tenant = await tenantOn('names.test')
      for (const username of ['dmarc', 'd.marc', 'Mailer-Daemon']) {
        expect(await create(tenant, username, 'names.test')).toMatchObject({
          status: 403,
          body: { code: 'resource_taken' },
        })
      }
      for (const username of ['postmaster', 'abuse', 'admin', 'no-reply']) {
        expect(await create(tenant, username, 'names.test')).toMatchObject({ status: 200 })
      }
    })

    it("accepts the installation's own sender name there", async () => {
      const tenant = await tenantOn('sender.test')
      const display_name = 'Post Office'
      expect(await gateway.as(tenant.key).post('/v0/inboxes', { display_name })).toMatchObject({ status: 400 })
      expect(await create(tenant, 'named', 'sender.test', { display_name })).toMatchObject({ status: 200 })
    })

    it('refuses an address that the organization has, or is still purging', async () => {
      const tenant = await tenantOn('twice.test')
      await create(tenant, 'desk', 'twice.test')
      expect(await create(tenant, 'desk', 'twice.test')).toMatchObject({
        status: 403,
        body: { code: 'already_exists' },
      })
      gateway.behind.purging.add(purgeOperations['mail-ingest.purgeInbox'].path)
      try {
        await tenant.api.delete('/v0/inboxes/desk@twice.test')
        expect(await create(tenant, 'desk', 'twice.test')).toMatchObject({
          status: 409,
          body: { code: 'resource_deleting' },
        })
      } finally {
        gateway.behind.purging.clear()
      }
    })

    it('creates one inbox when many requests want one address at the same time', async () => {
      const tenant = await tenantOn('crowd.test')
      const answers = await Promise.all(Array.from({ length: 20 }, () => create(tenant, 'desk', 'crowd.test')))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 403)])
    })

    it('does not keep a deleted address for its organization: the next holder of the domain gets it', async () => {
      const [first, second] = [await tenantOn('moved.test'), await tenantOn('moved.test')]
      await create(first, 'desk', 'moved.test')
      await first.api.delete('/v0/inboxes/desk@moved.test')
      await purged('desk@moved.test')
      expect(await create(second, 'desk', 'moved.test')).toMatchObject({ status: 200 })
    })
  })

  describe('a domain that went to another organization', () => {
    it('frees its addresses, and both organizations reach their own inbox by the same address', async () => {
      const [former, holder] = [await tenantOn('former.test'), await tenantOn('former.test')]
      const old = await create(former, 'desk', 'former.test', { display_name: 'Former' })
      const renewed = await create(holder, 'desk', 'former.test', { display_name: 'Holder' })
      expect([old.status, renewed.status]).toEqual([200, 200])
      for (const [tenant, display_name] of [
        [former, 'Former'],
        [holder, 'Holder'],
      ] as const) {
        expect((await tenant.api.get('/v0/inboxes/desk@former.test')).body).toMatchObject({ display_name })
      }
      await former.api.patch('/v0/inboxes/desk@former.test', { display_name: 'Changed' })
      expect((await holder.api.get('/v0/inboxes/desk@former.test')).body).toMatchObject({ display_name: 'Holder' })
      expect(await former.api.delete('/v0/inboxes/desk@former.test')).toMatchObject({ status: 204 })
      expect(await holder.api.get('/v0/inboxes/desk@former.test')).toMatchObject({ status: 200 })
    })

    it('has both inboxes named as receivers, the newest first, because its owner knows who holds it', async () => {
      const [former, holder] = [await tenantOn('both.test'), await tenantOn('both.test')]
      await create(former, 'desk', 'both.test', { status: 'paused' })
      await create(holder, 'desk', 'both.test')
      expect(await receivers('Desk+tag@both.test')).toEqual({
        status: 'deliver',
        given: 'Desk+tag@both.test',
        address: 'desk@both.test',
        organization_id: holder.id,
        pod_id: holder.id,
        inbox_uid: expect.any(String),
        others: [{ status: 'paused', organization_id: former.id, pod_id: former.id, inbox_uid: expect.any(String) }],
      })
      await holder.api.delete('/v0/inboxes/desk@both.test')
      expect(await receivers('desk@both.test')).toMatchObject({ organization_id: former.id, status: 'paused' })
      expect(await receivers('desk@both.test')).not.toHaveProperty('others')
    })
  })

  describe('DELETE /v0/pods/{pod_id}', () => {
    it('is refused with 409 while the pod holds domains, and counts inboxes and domains', async () => {
      const { id, api } = await gateway.organization()
      const pod = String((await api.post('/v0/pods')).body['pod_id'])
      gateway.behind.domainCounts.set(pod, 2)
      expect(await api.delete(`/v0/pods/${pod}`)).toMatchObject({
        status: 409,
        body: { code: 'cannot_delete', message: 'The pod still holds 2 domains', fix: 'Delete its domains first.' },
      })
      await api.post(`/v0/pods/${pod}/inboxes`)
      gateway.behind.domainCounts.set(pod, 1)
      expect((await api.delete(`/v0/pods/${pod}`)).body).toMatchObject({
        message: 'The pod still holds 1 inbox and 1 domain',
        fix: 'Delete its inboxes and domains first.',
      })
      expect(await api.delete(`/v0/pods/${id}`)).toMatchObject({ status: 409 })
    })

    it('is 503 while the owner of domains does not answer, and the pod stays', async () => {
      const { api } = await gateway.organization()
      const pod = String((await api.post('/v0/pods')).body['pod_id'])
      gateway.behind.refusing.add('/internal/domains/count')
      try {
        expect(await api.delete(`/v0/pods/${pod}`)).toMatchObject({ status: 503 })
      } finally {
        gateway.behind.refusing.clear()
      }
      expect(await api.delete(`/v0/pods/${pod}`)).toMatchObject({ status: 204 })
    })
  })

  it('GET /v0/organizations counts the domains, and shows the limit that holds', async () => {
    const { id, api } = await gateway.organization()
    gateway.behind.domainCounts.set(id, 4)
    expect((await api.get('/v0/organizations')).body).toMatchObject({ domain_count: 4, domain_limit: 100 })
    await gateway.operator.setLimits(id, { domains: 7 })
    expect((await api.get('/v0/organizations')).body).toMatchObject({ domain_limit: 7 })
  })

  describe('gateway.countInboxesOn', () => {
    it('leaves out the inboxes of a pod', async () => {
      const tenant = await tenantOn('pods.test')
      const pod = String((await tenant.api.post('/v0/pods', { name: 'another' })).body['pod_id'])
      await create(tenant, 'own', 'pods.test')
      expect(
        await tenant.api.post(`/v0/pods/${pod}/inboxes`, { username: 'other', domain: 'pods.test' }),
      ).toMatchObject({ status: 200 })
      const question = { organization_id: tenant.id, domain: 'pods.test', itself: true, except: [] }
      expect(await domainsDns?.call('gateway.countInboxesOn', question)).toEqual({ count: 2 })
      const others = { ...question, except_pod: pod }
      expect(await domainsDns?.call('gateway.countInboxesOn', others)).toEqual({ count: 1 })
    })

    const count = async (organization_id: string, domain: string, itself: boolean, except: string[] = []) =>
      (await domainsDns?.call('gateway.countInboxesOn', { organization_id, domain, itself, except }))?.count

    it('counts live inboxes on and below a domain, except those below others', async () => {
      const names = ['count.test', 'a.count.test', 'x.a.count.test', 'b.count.test', 'account.test', 'a_count.test']
      const tenant = await tenantOn(...names)
      const stranger = await tenantOn(...names)
      for (const name of names) await create(tenant, 'desk', name)
      await create(stranger, 'desk', 'b.count.test')
      await create(tenant, 'gone', 'b.count.test')
      await tenant.api.delete('/v0/inboxes/gone@b.count.test')
      expect(await count(tenant.id, 'count.test', true)).toBe(4)
      expect(await count(tenant.id, 'count.test', false)).toBe(3)
      expect(await count(tenant.id, 'count.test', false, ['a.count.test'])).toBe(1)
      expect(await count(tenant.id, 'none.test', true)).toBe(0)
    })
  })
})
