import { createPublicKey, createSign, createVerify, randomUUID } from 'node:crypto'
import { internalOperations } from '@restante/contracts/internal'
import { queryRows } from '@restante/testkit'
import { type Fixture, newName, startFixture, tenant } from '../support/fixture.ts'
import { withoutChecks } from '../support/without-checks.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await withoutChecks(await startFixture({ RETURN_HOST: 'bounces.restante.test' }))
})
afterAll(() => fixture.stop())

const set = (name: string, columns: string) =>
  queryRows(fixture.db, `update domains set ${columns} where name = $1`, name)

const VALID = { status: 'VALID', found: [], checked_at: '2026-11-01T00:00:00.000Z' }
const records = (kinds: readonly string[]) => JSON.stringify(Object.fromEntries(kinds.map((kind) => [kind, VALID])))
const SENDING = ['return_mx', 'spf', 'dkim', 'dmarc']

describe('the signing key of a domain', () => {
  const ask = (uid: string) => fixture.internal('domains-dns.getSigningKey', 'mail-send', { domain_uid: uid })

  it('is the private half of the published one', async () => {
    const { owner } = tenant()
    const { domain, records: shown } = await fixture.register(owner)
    await set(domain, 'sending_ready = true')
    const { uid } = await fixture.row(owner, domain)
    const { key } = internalOperations['domains-dns.getSigningKey'].response.parse((await ask(uid)).body)
    expect(key).toMatchObject({ domain, selector: 'svc1' })
    const published = shown.find(({ name }) => name.includes('_domainkey'))?.value.split('p=')[1] ?? ''
    const publicKey = createPublicKey({ key: Buffer.from(published, 'base64'), format: 'der', type: 'spki' })
    expect(publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048)
    const signature = createSign('sha256')
      .update('mail')
      .sign(key?.private_key ?? '')
    expect(createVerify('sha256').update('mail').verify(publicKey, signature)).toBe(true)
  })

  it('is not given of a domain that may not send, was deleted, or never was', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const { uid } = await fixture.row(owner, domain)
    expect((await ask(uid)).body).toEqual({})
    await set(domain, 'sending_ready = true')
    await fixture.call('domains.delete', owner, { domain })
    expect((await ask(uid)).body).toEqual({})
    expect((await ask(randomUUID())).body).toEqual({})
  })

  it('is given to mail-send alone', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    await set(domain, 'sending_ready = true')
    const { uid } = await fixture.row(owner, domain)
    for (const service of ['gateway', 'mail-ingest'] as const) {
      const { status, text } = await fixture.internal('domains-dns.getSigningKey', service, { domain_uid: uid })
      expect(status).toBeGreaterThanOrEqual(400)
      expect(text).not.toContain('PRIVATE KEY')
    }
  })

  it('is in no topic, and sealed in the database', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const { uid } = await fixture.row(owner, domain)
    await fixture.states.next(({ key }) => key === uid, { what: 'the state of the domain' })
    expect(JSON.stringify(fixture.states.records)).not.toContain('PRIVATE')
    const [row] = await queryRows<{ private_key: Buffer }>(
      fixture.db,
      'select private_key from domain_keys where domain_uid = $1',
      uid,
    )
    expect(row?.private_key.toString('latin1')).not.toContain('PRIVATE')
  })
})

describe('the domain of a new inbox', () => {
  const ask = async (organizationId: string, name: string, podId: string = randomUUID()) => {
    const body = { organization_id: organizationId, pod_id: podId, name }
    return (await fixture.internal('domains-dns.findInboxDomain', 'gateway', body)).body
  }
  const verify = (domain: string) => set(domain, "status = 'VERIFIED', verified_at = now(), last_verified_at = now()")

  it('is open once it is verified', async () => {
    const { owner, id } = tenant()
    const { domain } = await fixture.register(owner)
    expect(await ask(id, domain)).toEqual({ outcome: 'not_verified', domain })
    await verify(domain)
    expect(await ask(id, domain)).toEqual({ outcome: 'open', domain })
  })

  it('is unknown in another organization, and where nothing is registered', async () => {
    const { domain } = await fixture.register(tenant().owner)
    await verify(domain)
    expect(await ask(tenant().id, domain)).toEqual({ outcome: 'unknown' })
    expect(await ask(tenant().id, newName())).toEqual({ outcome: 'unknown' })
  })

  it('is unknown to another pod than the one that it belongs to', async () => {
    const { inPod, id } = tenant()
    const podId = randomUUID()
    const { domain } = await fixture.register(inPod(podId))
    await verify(domain)
    expect(await ask(id, domain, podId)).toEqual({ outcome: 'open', domain })
    expect(await ask(id, domain)).toEqual({ outcome: 'unknown' })
  })

  it('is at any depth below one with all its subdomains', async () => {
    const { owner, id } = tenant()
    const { domain } = await fixture.register(owner)
    await verify(domain)
    expect(await ask(id, `a.${domain}`)).toEqual({ outcome: 'no_subdomains', domain })
    await set(domain, 'subdomains_enabled = true')
    expect(await ask(id, `a.${domain}`)).toEqual({ outcome: 'open', domain })
    expect(await ask(id, `a.b.c.${domain}`)).toEqual({ outcome: 'open', domain })
    await set(domain, "status = 'PENDING', verified_at = null")
    expect(await ask(id, `a.${domain}`)).toEqual({ outcome: 'not_verified', domain })
  })

  it('is the most specific one that is registered, also where that is another pod’s', async () => {
    const { owner, inPod, id } = tenant()
    const { domain } = await fixture.register(owner, { subdomains_enabled: true })
    await verify(domain)
    const narrow = await fixture.register(owner, { domain: `a.${domain}` })
    expect(await ask(id, `x.a.${domain}`)).toEqual({ outcome: 'no_subdomains', domain: narrow.domain })
    expect(await ask(id, `a.${domain}`)).toEqual({ outcome: 'not_verified', domain: narrow.domain })
    await fixture.register(inPod(randomUUID()), { domain: `b.${domain}` })
    expect(await ask(id, `b.${domain}`)).toEqual({ outcome: 'unknown' })
  })

  it('is reserved where mail returns to, and where images are served from while they are', async () => {
    const { owner, id } = tenant()
    const { domain } = await fixture.register(owner, { subdomains_enabled: true, tracking_enabled: true })
    await verify(domain)
    for (const label of ['mail', 'link', 'a.link']) {
      expect(await ask(id, `${label}.${domain}`)).toEqual({ outcome: 'reserved', domain })
    }
    await set(domain, 'tracking_enabled = false')
    expect(await ask(id, `link.${domain}`)).toEqual({ outcome: 'open', domain })
  })

  it('stays open while only records outside sending are outstanding', async () => {
    const { owner, id } = tenant()
    const { domain } = await fixture.register(owner)
    for (const status of ['PENDING', 'INVALID']) {
      await set(domain, `status = '${status}', verified_at = now(), records = '${records(SENDING)}'`)
      expect(await ask(id, domain)).toEqual({ outcome: 'open', domain })
    }
  })

  it('stays open while only the certificate of its tracking host is outstanding, however long', async () => {
    const { owner, id } = tenant()
    const { domain } = await fixture.register(owner, { tracking_enabled: true })
    for (const status of ['VERIFYING', 'FAILED']) {
      const columns = `reason = 'infra_not_verified_for_sending', verified_at = now(), records = '${records(SENDING)}'`
      await set(domain, `status = '${status}', ${columns}`)
      expect(await ask(id, domain)).toEqual({ outcome: 'open', domain })
    }
  })

  it.each([
    ...SENDING.map((kind) => [
      `${kind} is not valid`,
      `status = 'PENDING', verified_at = now(), records = '${records([...SENDING, 'apex_mx'].filter((one) => one !== kind))}'`,
    ]),
    ['it never was verified', `status = 'PENDING', verified_at = null, records = '${records(SENDING)}'`],
    ['its checks of sending run', `status = 'VERIFYING', verified_at = now(), records = '${records(SENDING)}'`],
    ['its checks of sending failed', `status = 'FAILED', verified_at = now(), records = '${records(SENDING)}'`],
    [
      'it is barred from sending',
      `status = 'FAILED', reason = 'infra_not_verified_for_sending', verified_at = now(), barred_at = now(), records = '${records(SENDING)}'`,
    ],
    [
      'it has lost its name',
      `status = 'PENDING', verified_at = now(), lost_at = now(), records = '${records(SENDING)}'`,
    ],
  ])('is not verified when %s', async (_, columns) => {
    const { owner, id } = tenant()
    const { domain } = await fixture.register(owner)
    await set(domain, columns)
    expect(await ask(id, domain)).toEqual({ outcome: 'not_verified', domain })
  })
})

describe('the number of domains', () => {
  it('is counted of an organization, or of one of its pods', async () => {
    const { owner, inPod, id } = tenant()
    const podId = randomUUID()
    await fixture.register(owner)
    await fixture.register(inPod(podId))
    const count = async (body: unknown) => (await fixture.internal('domains-dns.countDomains', 'gateway', body)).body
    expect(await count({ organization_id: id })).toEqual({ count: 2 })
    expect(await count({ organization_id: id, pod_id: podId })).toEqual({ count: 1 })
    expect(await count({ organization_id: id, pod_id: randomUUID() })).toEqual({ count: 0 })
  })
})

describe('a snapshot of the domains', () => {
  it('has each of them once, in pages, in the form of their events', async () => {
    const { owner } = tenant()
    const made = [await fixture.register(owner), await fixture.register(owner), await fixture.register(owner)]
    const { response } = internalOperations['domains-dns.snapshotDomains']
    const found: { domain: string }[] = []
    for (let after: string | undefined; ; ) {
      const body = { limit: 2, ...(after !== undefined && { after }) }
      const page = response.parse((await fixture.internal('domains-dns.snapshotDomains', 'mail-ingest', body)).body)
      found.push(...page.domains)
      if (page.next === undefined) break
      after = page.next
    }
    const total = await queryRows(fixture.db, 'select uid from domains')
    expect(found).toHaveLength(total.length)
    expect(found.map(({ domain }) => domain)).toEqual(expect.arrayContaining(made.map(({ domain }) => domain)))
  })
})
