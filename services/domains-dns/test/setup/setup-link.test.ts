import { randomUUID } from 'node:crypto'
import { sql } from '@restante/service/database'
import { newName, tenant } from '../support/fixture.ts'
import { withoutChecks } from '../support/without-checks.ts'
import { KEY_LABEL, PUBLIC_URL, type SetupFixture, startSetup } from './support.ts'

let service: SetupFixture
beforeAll(async () => {
  service = await startSetup()
  await withoutChecks(service)
})
afterAll(() => service.stop())
beforeEach(() => {
  service.provider.conduct = undefined
  for (const member of Object.keys(service.provider.settings)) delete service.provider.settings[member]
})

const SET_RECORDS = sql<never, [records: string, name: string]>(
  'update domains set records = $1::jsonb where name = $2',
)
const { owner } = tenant()
const parametersOf = (url = '') => new URLSearchParams(new URL(url).search)

describe('the setup link of a domain', () => {
  it('leads to the page of the DNS provider with everything that the template needs, signed', async () => {
    const domain = await service.domain(owner)
    const link = await service.link(owner, domain)
    expect(link).toEqual({
      supported: true,
      provider_name: 'Provider of the tests',
      url: expect.any(String),
      width: 750,
      height: 750,
      state: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(link.url).toMatch(
      `${service.provider.url}/v2/domainTemplates/providers/restante.test/services/mail/apply?dkim=`,
    )
    const given = Object.fromEntries(parametersOf(link.url))
    expect(Object.keys(given)).toEqual(['dkim', 'domain', 'groupId', 'redirect_uri', 'sel', 'state', 'sig', 'key'])
    const { body } = await service.call('domains.get', owner, { domain })
    expect(JSON.stringify(body)).toContain(`v=DKIM1; k=rsa; p=${given['dkim']}`)
    expect(given).toMatchObject({
      domain,
      groupId: 'core,inbound',
      redirect_uri: `${PUBLIC_URL}/domain-setup/return`,
      sel: 'svc1',
      state: link.state,
      key: KEY_LABEL,
    })
  })

  it('publishes every record of the domain when the owner agrees, and keeps what else is in the zone', async () => {
    const own = { type: 'TXT' as const, data: 'google-site-verification=abc' }
    const domain = await service.domain(owner, { subdomains_enabled: true, tracking_enabled: true }, [own])
    const { url, state } = await service.link(owner, domain)
    const { status, location } = await service.open(url ?? '')
    expect([status, location?.href]).toEqual([302, `${PUBLIC_URL}/domain-setup/return?state=${state}`])
    const { body } = await service.call('domains.get', owner, { domain })
    for (const [name, expected] of [
      [domain, own],
      [domain, { type: 'MX', exchange: 'mx.restante.test', priority: 10 }],
      [`*.${domain}`, { type: 'MX', exchange: 'mx.restante.test', priority: 10 }],
      [`mail.${domain}`, { type: 'MX', exchange: 'mx.restante.test', priority: 10 }],
      [`mail.${domain}`, { type: 'TXT', data: 'v=spf1 include:spf.restante.test ~all' }],
      [`_dmarc.${domain}`, { type: 'TXT', data: `v=DMARC1; p=reject; rua=mailto:dmarc@${domain}` }],
      [`link.${domain}`, { type: 'CNAME', domain: 'track.restante.test' }],
    ] as const) {
      expect(service.provider.records(domain, name)).toContainEqual(expected)
    }
    const [dkim] = service.provider.records(domain, `svc1._domainkey.${domain}`)
    expect(body['records']).toContainEqual(
      expect.objectContaining({ value: dkim?.type === 'TXT' ? dkim.data : undefined }),
    )
  })

  it('is refused by the provider as soon as one character of it is altered', async () => {
    const domain = await service.domain(owner)
    const { url = '' } = await service.link(owner, domain)
    const { status } = await service.open(url.replace('groupId=core%2Cinbound', 'groupId=core'))
    expect(status).toBe(400)
    expect(service.provider.records(domain, `_dmarc.${domain}`)).toEqual([])
    expect((await service.open(url)).status).toBe(302)
  })

  it.each([
    [{ inbound_enabled: false }, 'core'],
    [{ subdomains_enabled: true }, 'core,inbound,subdomains'],
    [{ inbound_enabled: false, subdomains_enabled: true, tracking_enabled: true }, 'core,subdomains,tracking'],
  ])('asks for the parts that the switches need: %j', async (switches, groups) => {
    const { url } = await service.link(owner, await service.domain(owner, switches))
    expect(parametersOf(url).get('groupId')).toBe(groups)
  })

  it('names the host of a domain below its zone, and none where the domain is a zone of its own', async () => {
    const zone = newName()
    service.provider.serve(service.zone, zone)
    const below = await service.register(owner, { domain: `agents.eu.${zone}` })
    const { url } = await service.link(owner, below.domain_id)
    expect(Object.fromEntries(parametersOf(url))).toMatchObject({ domain: zone, host: 'agents.eu' })
    service.provider.serve(service.zone, below.domain_id)
    const delegated = parametersOf((await service.link(owner, below.domain_id)).url)
    expect([delegated.get('domain'), delegated.get('host')]).toEqual([below.domain_id, null])
  })

  it('finds the zone although a name below it cannot be looked up', async () => {
    const zone = newName()
    service.provider.serve(service.zone, zone)
    service.zone.fail(`agents.${zone}`)
    const { domain_id } = await service.register(owner, { domain: `agents.${zone}`, inbound_enabled: false })
    expect((await service.link(owner, domain_id)).supported).toBe(true)
  })

  it('shows the display name and the window that the provider states', async () => {
    Object.assign(service.provider.settings, { providerDisplayName: 'Brand\u0007', width: 900, height: 600 })
    expect(await service.link(owner, await service.domain(owner))).toMatchObject({
      provider_name: 'Brand',
      width: 900,
      height: 600,
    })
  })

  it('names the mailbox provider whose MX records it would replace, and not where it replaces none', async () => {
    const google = [{ type: 'MX' as const, exchange: 'aspmx.l.google.com', priority: 1 }]
    const replaced = await service.domain(owner, { allow_conflicting_provider: true }, google)
    expect((await service.link(owner, replaced)).conflicting_provider).toBe('Google Workspace')
    const kept = await service.domain(owner, { inbound_enabled: false }, google)
    expect(await service.link(owner, kept)).not.toHaveProperty('conflicting_provider')
  })

  it('is not to be had for a domain that the request does not see', async () => {
    const domain = await service.domain(owner)
    const organization = tenant(owner.organization_id)
    for (const [caller, status] of [
      [tenant().owner, 404],
      [organization.inPod(randomUUID()), 404],
      [organization.pod(randomUUID()), 200],
    ] as const) {
      expect((await service.call('domains.getSetupLink', caller, { domain })).status).toBe(status)
    }
    expect((await service.call('domains.getSetupLink', owner, { domain: newName() })).status).toBe(404)
  })

  it('is 409 when every record is published, and there again when one is not', async () => {
    const domain = await service.domain(owner)
    const kinds = ['apex_mx', 'return_mx', 'spf', 'dkim', 'dmarc']
    const checked_at = new Date().toISOString()
    const valid = Object.fromEntries(kinds.map((kind) => [kind, { status: 'VALID', found: [], checked_at }]))
    await service.db.query(SET_RECORDS, JSON.stringify(valid), domain)
    const answer = await service.call('domains.getSetupLink', owner, { domain })
    expect([answer.status, answer.body['code']]).toEqual([409, 'conflict'])
    expect(answer.body['fix']).toBeTruthy()
    const one = { ...valid, spf: { status: 'INVALID', reason: 'value_mismatch', found: ['x'], checked_at } }
    await service.db.query(SET_RECORDS, JSON.stringify(one), domain)
    expect((await service.link(owner, domain)).supported).toBe(true)
  })

  it.each(['NXDOMAIN', 'SERVFAIL'])(
    'is 422 for a domain without a zone: %s up to its registrable name',
    async (kind) => {
      const zone = newName()
      const domain = `a.b.${zone}`
      if (kind === 'SERVFAIL') for (const name of [domain, `b.${zone}`, zone]) service.zone.fail(name)
      await service.register(owner, { domain })
      const answer = await service.call('domains.getSetupLink', owner, { domain })
      expect([answer.status, answer.body['code']]).toEqual([422, 'unprocessable'])
      expect(answer.body['fix']).toBeTruthy()
      const asked = service.zone.questions.filter(({ type }) => type === 'SOA').map(({ name }) => name)
      expect(asked).toEqual(expect.arrayContaining([domain, `b.${zone}`, zone]))
      expect(asked).not.toContain('example')
    },
  )
})

describe('a setup link that is not supported', () => {
  it('names no provider when the zone names none, or one that does not have it', async () => {
    const bare = newName()
    service.zone.set(bare, { type: 'SOA', primary: 'ns.test', admin: 'admin.test' })
    await service.register(owner, { domain: bare })
    expect(await service.link(owner, bare)).toEqual({ supported: false })
    service.zone.set(`_domainconnect.${bare}`, { type: 'TXT', data: service.provider.host })
    expect(await service.link(owner, bare)).toEqual({ supported: false })
  })

  it.each([
    ['offers no page', { urlSyncUX: undefined }],
    ['has its page on http', { urlSyncUX: 'http://connect.provider.test' }],
    ['has a user in the address of its page', { urlSyncUX: 'https://restante.test@connect.provider.test' }],
    ['has a query in the address of its page', { urlSyncUX: 'https://connect.provider.test/?a=' }],
    ['has its interface on another port', { urlAPI: 'https://connect.provider.test:8443' }],
  ])('names the provider when it %s', async (_, settings) => {
    Object.assign(service.provider.settings, settings)
    const link = await service.link(owner, await service.domain(owner))
    expect(link).toEqual({ supported: false, provider_name: 'Provider of the tests' })
  })

  it.each([
    ['no interface', { urlAPI: undefined }],
    ['an interface on http', { urlAPI: 'http://connect.provider.test' }],
    ['no name', { providerName: '' }],
    ['a demand that is not understood', { crit: ['vnd.example.page'], 'vnd.example.page': 'x' }],
  ])('follows from settings with %s', async (_, settings) => {
    Object.assign(service.provider.settings, settings)
    expect(await service.link(owner, await service.domain(owner))).toEqual({ supported: false })
  })

  it('names the provider when it does not know the template', async () => {
    const templates = service.provider.templates.splice(0)
    const link = await service.link(owner, await service.domain(owner))
    service.provider.templates.push(...templates)
    expect(link).toEqual({ supported: false, provider_name: 'Provider of the tests' })
  })

  it('leaves nothing in the database', async () => {
    Object.assign(service.provider.settings, { urlSyncUX: undefined })
    const domain = await service.domain(owner)
    await service.link(owner, domain)
    const setups = sql<{ count: number }, [name: string]>(
      'select count(*)::int as count from domain_setups join domains on uid = domain_uid where name = $1',
    )
    expect(await service.db.query(setups, domain)).toEqual([{ count: 0 }])
  })
})

it('asks the provider of a zone once in 10 minutes, and again at once after it failed', async () => {
  const domain = await service.domain(owner)
  service.provider.conduct = (_, response) => void response.writeHead(500).end()
  expect(await service.link(owner, domain)).toEqual({ supported: false })
  service.provider.conduct = undefined
  service.provider.requests.length = 0
  const links = await Promise.all([service.link(owner, domain), service.link(owner, domain)])
  links.push(await service.link(owner, domain))
  expect(new Set(links.map(({ state }) => state)).size).toBe(3)
  expect(service.provider.requests).toEqual([
    `/v2/${domain}/settings`,
    '/v2/domainTemplates/providers/restante.test/services/mail',
  ])
})

describe('an installation', () => {
  afterAll(() => service.restart())

  it('without a key names the provider, and offers no link', async () => {
    await service.restart({ DOMAIN_CONNECT_KEY: '' })
    const link = await service.link(owner, await service.domain(owner))
    expect(link).toEqual({ supported: false, provider_name: 'Provider of the tests' })
  })

  it('that accepts other providers only names this one, and offers no link', async () => {
    await service.restart({ DOMAIN_CONNECT_PROVIDERS: 'other.test, another.test' })
    const link = await service.link(owner, await service.domain(owner))
    expect(link).toEqual({ supported: false, provider_name: 'Provider of the tests' })
    await service.restart({ DOMAIN_CONNECT_PROVIDERS: 'other.test,provider.test' })
    expect((await service.link(owner, await service.domain(owner))).supported).toBe(true)
  })
})
