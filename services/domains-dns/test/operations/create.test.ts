import { randomUUID } from 'node:crypto'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { type Fixture, newName, startFixture, tenant } from '../support/fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture({ RETURN_HOST: 'bounces.restante.test', SHARED_DOMAINS: 'shared.example' })
})
afterAll(() => fixture.stop())
afterEach(() => fixture.peers.reset())

const create = (caller: Parameters<Fixture['call']>[1], body: unknown) =>
  fixture.call('domains.create', caller, { body })

const set = (name: string, columns: string) =>
  queryRows(fixture.db, `update domains set ${columns} where name = $1`, name)

describe('a domain that is registered', () => {
  it('has the records that it needs, none of them found yet', async () => {
    const name = newName()
    const { status, body } = await create(tenant().owner, { domain: name, subdomains_enabled: true })
    expect(status).toBe(200)
    expect(body).toEqual({
      domain_id: name,
      domain: name,
      status: 'NOT_STARTED',
      reason: 'dns_records_missing',
      feedback_enabled: true,
      inbound_enabled: true,
      subdomains_enabled: true,
      tracking_enabled: false,
      created_at: body['updated_at'],
      updated_at: body['updated_at'],
      records: [
        { type: 'MX', name, value: 'mx.restante.test', priority: 10, status: 'MISSING' },
        { type: 'MX', name: `*.${name}`, value: 'mx.restante.test', priority: 10, status: 'MISSING' },
        { type: 'MX', name: `mail.${name}`, value: 'bounces.restante.test', priority: 10, status: 'MISSING' },
        { type: 'TXT', name: `mail.${name}`, value: 'v=spf1 include:spf.restante.test -all', status: 'MISSING' },
        {
          type: 'TXT',
          name: `svc1._domainkey.${name}`,
          value: `v=DKIM1; k=rsa; p=${await publicKey(name)}`,
          status: 'MISSING',
        },
        {
          type: 'TXT',
          name: `_dmarc.${name}`,
          value: `v=DMARC1; p=reject; rua=mailto:dmarc@${name}`,
          status: 'MISSING',
        },
      ],
    })
  })

  it('is named in its compared form, whatever the request writes', async () => {
    const name = newName()
    const { body } = await create(tenant().owner, { domain: `Bücher.${name.toUpperCase()}.` })
    expect(body['domain_id']).toBe(`xn--bcher-kva.${name}`)
  })

  it('asks for no record of receiving when it only sends, and for one of tracking when images are served', async () => {
    const { owner } = tenant()
    const { records, domain } = await fixture.register(owner, { inbound_enabled: false, tracking_enabled: true })
    expect(records.map(({ type, name }) => `${type} ${name}`)).toEqual([
      `MX mail.${domain}`,
      `TXT mail.${domain}`,
      `TXT svc1._domainkey.${domain}`,
      `TXT _dmarc.${domain}`,
      `CNAME link.${domain}`,
    ])
    expect(records.find(({ name }) => name.startsWith('_dmarc'))?.value).toBe('v=DMARC1; p=reject')
  })

  it('is published with its state, and checked at once', async () => {
    const { owner, id } = tenant()
    const { domain } = await fixture.register(owner)
    const { uid } = await fixture.row(owner, domain)
    const record = await fixture.states.next(({ key }) => key === uid, { what: 'the state of the domain' })
    expect(JSON.parse(record.value)).toMatchObject({
      organization_id: id,
      domain,
      version: 1,
      status: 'NOT_STARTED',
      sending_ready: false,
      return_path: `mail.${domain}`,
    })
    await waitFor(async () => fixture.zone.questions.some(({ name }) => name === `_dmarc.${domain}`), {
      what: 'the first check',
    })
  })

  it('belongs to the organization, or to the pod of the path or of the key', async () => {
    const { owner, inPod, pod } = tenant()
    const podId = randomUUID()
    expect((await fixture.register(owner)).pod_id).toBeUndefined()
    expect((await fixture.register(inPod(podId))).pod_id).toBe(podId)
    expect((await fixture.register(pod(podId))).pod_id).toBe(podId)
  })
})

describe('a create with a client_id', () => {
  it('returns the domain that has it, as it is now, whatever else the request says', async () => {
    const { owner } = tenant()
    const made = await fixture.register(owner, { client_id: 'mine' })
    await fixture.call('domains.update', owner, { domain: made.domain, body: { feedback_enabled: false } })
    const again = await create(owner, { domain: newName(), client_id: 'mine', subdomains_enabled: true })
    expect(again.status).toBe(200)
    expect(again.body).toMatchObject({ domain: made.domain, feedback_enabled: false, subdomains_enabled: false })
    const shared = await create(owner, { domain: 'restante.test', client_id: 'mine' })
    expect(shared.body['domain']).toBe(made.domain)
  })

  it('is 409 when a domain outside the scope of the request has it', async () => {
    const { owner, inPod, pod } = tenant()
    await fixture.register(owner, { client_id: 'of the organization'.replaceAll(' ', '-') })
    await fixture.register(inPod(randomUUID()), { client_id: 'of-a-pod' })
    const outside = await Promise.all([
      create(inPod(randomUUID()), { domain: newName(), client_id: 'of-the-organization' }),
      create(inPod(randomUUID()), { domain: newName(), client_id: 'of-a-pod' }),
      create(pod(randomUUID()), { domain: newName(), client_id: 'of-a-pod' }),
    ])
    expect(outside.map(({ status, body }) => [status, body['code']])).toEqual(
      Array.from({ length: 3 }, () => [409, 'conflict']),
    )
    expect((await create(pod(randomUUID()), { domain: newName(), client_id: 'of-the-organization' })).status).toBe(200)
  })

  it('makes a new domain in another organization', async () => {
    const [one, other] = [tenant(), tenant()]
    const made = await fixture.register(one.owner, { client_id: 'same' })
    expect((await fixture.register(other.owner, { client_id: 'same' })).domain).not.toBe(made.domain)
  })

  it('makes one domain of concurrent requests', async () => {
    const { owner, id } = tenant()
    const bodies = Array.from({ length: 6 }, () => ({ domain: newName(), client_id: 'once' }))
    const answers = await Promise.all(bodies.map((body) => create(owner, body)))
    expect(new Set(answers.map(({ body }) => body['domain'])).size).toBe(1)
    expect(await countRows(fixture.db, 'domains where organization_id = $1', id)).toBe(1)
  })
})

describe('a create is 400', () => {
  it.each([
    ['for a public suffix', 'co.uk'],
    ['for an address', '192.0.2.1'],
    ['for one label', 'example'],
  ])('%s', async (_, domain) => {
    const { status, body } = await create(tenant().owner, { domain })
    expect([status, body['code'], body['errors']]).toEqual([
      400,
      'validation_error',
      [{ path: ['domain'], message: expect.any(String) }],
    ])
  })

  it('for a member of a wrong type', async () => {
    const { status, body } = await create(tenant().owner, { domain: newName(), inbound_enabled: 'yes' })
    expect([status, body['errors']]).toMatchObject([400, [{ path: ['inbound_enabled'] }]])
  })
})

describe('a create is 403 resource_taken', () => {
  it.each(['restante.test', 'a.b.restante.test', 'shared.example', 'a.shared.example'])(
    'for %s, which every organization may use',
    async (domain) => {
      const { status, body } = await create(tenant().owner, { domain })
      expect([status, body['code']]).toEqual([403, 'resource_taken'])
    },
  )

  it.each([
    ['is verified', "status = 'VERIFIED', last_verified_at = now() - interval '90 days'"],
    ['was verified in the last 30 days', "status = 'INVALID', last_verified_at = now() - interval '29 days'"],
  ])('when another organization has a registration that %s', async (_, columns) => {
    const { domain } = await fixture.register(tenant().owner)
    await set(domain, columns)
    expect((await create(tenant().owner, { domain })).body['code']).toBe('resource_taken')
  })

  it('when another organization is verified on a name above it, with all its subdomains', async () => {
    const { domain } = await fixture.register(tenant().owner, { subdomains_enabled: true })
    await set(domain, "status = 'VERIFIED', last_verified_at = now()")
    expect((await create(tenant().owner, { domain: `a.b.${domain}` })).body['code']).toBe('resource_taken')
    await set(domain, 'subdomains_enabled = false')
    expect((await create(tenant().owner, { domain: `a.b.${domain}` })).status).toBe(200)
  })

  it('for 30 days after another organization deleted its verified registration, and no longer', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    await set(domain, "status = 'VERIFIED', last_verified_at = now() - interval '2 days'")
    await fixture.call('domains.delete', owner, { domain })
    expect((await create(tenant().owner, { domain })).body['code']).toBe('resource_taken')
    await queryRows(
      fixture.db,
      "update former_proofs set last_verified_at = now() - interval '31 days' where name = $1",
      domain,
    )
    expect((await create(tenant().owner, { domain })).status).toBe(200)
  })

  it.each([
    ['has proven nothing', "status = 'PENDING'"],
    ['was verified 31 days ago', "status = 'INVALID', last_verified_at = now() - interval '31 days'"],
  ])('but not when the registration elsewhere %s', async (_, columns) => {
    const { domain } = await fixture.register(tenant().owner)
    await set(domain, columns)
    expect((await create(tenant().owner, { domain })).status).toBe(200)
  })
})

describe('a create is 403 already_exists', () => {
  it('when the organization has the name, in whatever pod and spelling', async () => {
    const { owner, inPod } = tenant()
    const { domain } = await fixture.register(inPod(randomUUID()))
    for (const caller of [owner, inPod(randomUUID())]) {
      const { status, body } = await create(caller, { domain: `${domain.toUpperCase()}.` })
      expect([status, body['code']]).toEqual([403, 'already_exists'])
    }
  })

  it('for all but one of concurrent requests for a name', async () => {
    const { owner } = tenant()
    const domain = newName()
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(owner, { domain })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403, 403, 403])
  })
})

describe('a create for one pod', () => {
  it('is 403 where inboxes of other pods would follow the domain; one for the whole organization is not', async () => {
    fixture.peers.answers['gateway.countInboxesOn'] = async ({ except_pod }) => ({
      count: except_pod === podId ? 1 : 0,
    })
    const [{ owner, pod, inPod }, podId] = [tenant(), randomUUID()]
    const { domain: above } = await fixture.register(owner, { subdomains_enabled: true })
    const domain = `a.${above}`
    for (const caller of [pod(podId), inPod(podId)]) {
      const { status, body } = await create(caller, { domain })
      expect([status, body['code']]).toEqual([403, 'resource_taken'])
    }
    expect((await create(owner, { domain })).status).toBe(200)
    const another = await create(pod(randomUUID()), { domain: `b.${above}` })
    expect(another.status).toBe(200)
  })
})

describe('a create is 422', () => {
  it('when a mailbox provider has the mail of the name, unless it only sends or the flag is set', async () => {
    const { owner } = tenant()
    const domain = newName()
    fixture.zone.set(domain, { type: 'MX', exchange: 'aspmx.l.google.com', priority: 1 })
    const { status, body } = await create(owner, { domain })
    expect([status, body['code']]).toEqual([422, 'unprocessable'])
    expect(body['message']).toContain('Google Workspace')
    expect(body['fix']).toMatch(/subdomain.*inbound_enabled.*allow_conflicting_provider/)
    expect((await create(owner, { domain, inbound_enabled: false })).status).toBe(200)
    expect((await create(tenant().owner, { domain, allow_conflicting_provider: true })).status).toBe(200)
  })

  it('not when DNS fails to say who has the mail of the name', async () => {
    const domain = newName()
    fixture.zone.fail(domain)
    expect((await create(tenant().owner, { domain })).status).toBe(200)
  })

  it('for the return path of a domain of the same organization, where another host receives returned mail', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const { status, body } = await create(owner, { domain: `mail.${domain}` })
    expect([status, body['code']]).toEqual([422, 'unprocessable'])
    expect((await create(owner, { domain: `other.${domain}` })).status).toBe(200)
    expect((await create(tenant().owner, { domain: `mail.${domain}` })).status).toBe(200)
  })

  it('when inboxes are where the images of the domain would be served from', async () => {
    fixture.peers.answers['gateway.countInboxesOn'] = async () => ({ count: 2 })
    const [{ owner }, domain] = [tenant(), newName()]
    const { status, body } = await create(owner, { domain, tracking_enabled: true })
    expect([status, body['message']]).toEqual([422, expect.stringContaining('2 inboxes')])
    expect(fixture.peers.requests('gateway.countInboxesOn')).toMatchObject([{ domain: `link.${domain}`, itself: true }])
  })
})

describe('a create is 403 limit_exceeded', () => {
  it('beyond the number of domains of the organization, which concurrent requests do not exceed', async () => {
    fixture.peers.answers['gateway.getDomainRights'] = async () => ({ live: true, domain_limit: 3 })
    const { owner, id, inPod } = tenant()
    await fixture.register(inPod(randomUUID()))
    const answers = await Promise.all(Array.from({ length: 6 }, () => create(owner, { domain: newName() })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(({ body }) => [body['code'], body['resource'], body['limit']])).toEqual(
      refused.map(() => ['limit_exceeded', 'domain', 3]),
    )
    expect(await countRows(fixture.db, 'domains where organization_id = $1', id)).toBe(3)
  })

  it('where the installation has no custom domains, and for an agent whose human is not verified', async () => {
    const { owner } = tenant()
    const unverified = await create({ ...owner, unverified: true }, { domain: newName() })
    fixture.peers.answers['gateway.getDomainRights'] = async () => ({ live: true, domain_limit: 0 })
    const without = await create(owner, { domain: newName() })
    expect([unverified, without].map(({ status, body }) => [status, body['code'], body['limit']])).toEqual([
      [403, 'limit_exceeded', 0],
      [403, 'limit_exceeded', 0],
    ])
  })

  it('not where there is no limit', async () => {
    fixture.peers.answers['gateway.getDomainRights'] = async () => ({ live: true })
    expect((await create(tenant().owner, { domain: newName() })).status).toBe(200)
  })
})

describe('a create whose scope is gone', () => {
  it('is 404 for a pod, and 401 for the organization, when the gateway says so', async () => {
    fixture.peers.answers['gateway.getDomainRights'] = async () => ({ live: false })
    const { owner, inPod } = tenant()
    expect((await create(inPod(randomUUID()), { domain: newName() })).status).toBe(404)
    expect((await create(owner, { domain: newName() })).status).toBe(401)
  })

  it('is 503 while the gateway does not answer, and leaves nothing', async () => {
    fixture.peers.answers['gateway.getDomainRights'] = async () => 500
    const { owner, id } = tenant()
    expect((await create(owner, { domain: newName() })).status).toBe(503)
    expect(await countRows(fixture.db, 'domains where organization_id = $1', id)).toBe(0)
  })
})

async function publicKey(name: string): Promise<string> {
  const [row] = await queryRows<{ public_key: string }>(
    fixture.db,
    'select public_key from domain_keys join domains on uid = domain_uid where name = $1',
    name,
  )
  return row?.public_key ?? ''
}
