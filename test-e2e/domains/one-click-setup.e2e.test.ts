import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type ConnectTemplate, DnsZone, DomainConnectProvider, describeWith, sampleByLength } from '@restante/testkit'
import type { BrowserContextOptions } from 'playwright-core'
import { outsideNames } from '../stack/names.ts'
import { newPage, openBrowser } from '../support/programs/browser.ts'
import { useOwnSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'

const SCREENS: readonly [string, BrowserContextOptions][] = [
  ['desktop', { viewport: { width: 1280, height: 800 } }],
  ['desktop, in dark colours', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }],
  ['phone', { viewport: { width: 360, height: 740 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true }],
  [
    'narrow phone, in dark colours',
    { viewport: { width: 320, height: 568 }, isMobile: true, hasTouch: true, colorScheme: 'dark' },
  ],
  ['browser without scripts', { viewport: { width: 800, height: 600 }, javaScriptEnabled: false }],
]
/** Where to keep what was seen, for a look at it by a person. */
const FOLDER = process.env['RESTANTE_SCREENSHOTS']
const HOST = 'connect.provider.test'
const IDS = { providerId: 'restante.test', serviceId: 'mail' }
const KEY_DOMAIN = 'keys.restante.test'

/** The template of the local stack, with what a provider needs of it. */
const TEMPLATE: ConnectTemplate = {
  ...IDS,
  syncPubKeyDomain: KEY_DOMAIN,
  syncRedirectDomain: '127.0.0.1',
  records: [
    { groupId: 'core', type: 'TXT', host: '%sel%._domainkey', data: 'v=DKIM1; k=rsa; p=%dkim%' },
    { groupId: 'core', type: 'MX', host: 'mail', pointsTo: 'mx.restante.test', priority: 10 },
    { groupId: 'core', type: 'SPFM', host: 'mail', spfRules: 'include:spf.restante.test' },
    { groupId: 'core', type: 'TXT', host: '_dmarc', data: 'v=DMARC1; p=reject; rua=mailto:dmarc@%fqdn%' },
    { groupId: 'inbound', type: 'MX', host: '@', pointsTo: 'mx.restante.test', priority: 10 },
  ],
}

describeWith({ programs: ['chromium'] }, 'the setup of a domain by one click at its DNS provider', () => {
  const zone = new DnsZone().rule(outsideNames)
  const provider = new DomainConnectProvider(HOST)
  const system = useOwnSystem('one-click', environment, ['gateway', 'domains-dns'])
  let chromium: Awaited<ReturnType<typeof openBrowser>>

  async function environment() {
    const directory = await mkdtemp(path.join(tmpdir(), 'one-click-'))
    await Promise.all([zone.start(), provider.start()])
    for (const thing of [zone, provider]) system.cleanUp(thing)
    system.cleanUp({ stop: () => rm(directory, { recursive: true }) })
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const files = { key: path.join(directory, 'key.pem'), ca: path.join(directory, 'ca.pem') }
    await writeFile(files.key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    await writeFile(files.ca, provider.certificate)
    const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    zone.set(
      `_dck1.${KEY_DOMAIN}`,
      { type: 'TXT', data: `p=1,a=RS256,d=${spki.slice(0, 200)}` },
      { type: 'TXT', data: `p=2,a=RS256,d=${spki.slice(200)}` },
    )
    zone.set('mx.restante.test', { type: 'A', address: '127.0.0.1' })
    zone.set('spf.restante.test', { type: 'TXT', data: 'v=spf1 ip4:127.0.0.0/8 -all' })
    provider.templates.push(TEMPLATE)
    return {
      DNS_SERVERS: zone.address,
      DOMAIN_CONNECT_PROVIDER_ID: IDS.providerId,
      DOMAIN_CONNECT_SERVICE_ID: IDS.serviceId,
      DOMAIN_CONNECT_KEY_FILE: files.key,
      DOMAIN_CONNECT_PORT: String(provider.port),
      DOMAIN_CONNECT_CA_FILE: files.ca,
    }
  }

  beforeAll(async () => {
    chromium = system.cleanUp(await openBrowser([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]))
  })
  beforeEach(() => {
    provider.consent = 'given'
  })

  /** A registered domain whose zone the provider has, and its setup link. */
  async function linked() {
    const domain = `${newUsername('agents-with-a-long-name')}.test`
    provider.serve(zone, domain)
    const { client, api } = system.tenant
    await client.domains.create({ domain })
    const { status, body } = await api.get(`/v0/domains/${domain}/setup-link`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ supported: true, provider_name: 'Provider of the tests' })
    return { domain, url: String(body['url']) }
  }

  async function open(url: string, options: BrowserContextOptions) {
    const watched = await newPage(chromium.browser, { ...options, ignoreHTTPSErrors: true })
    await watched.page.goto(url)
    return watched
  }

  it.each(sampleByLength(2, SCREENS))('ends on a page that shows what DNS has: %s', async (name, options) => {
    const { domain, url } = await linked()
    const { page, complaints, requested } = await open(url, options)
    const title = await page.getByRole('heading', { level: 1 }).textContent()
    expect(['All DNS records are published', 'Your domain is ready']).toContain(title)
    expect(await page.getByRole('status').textContent()).toContain(domain)
    if (FOLDER) await page.screenshot({ path: `${FOLDER}/${name} published.png` })
    await page.reload()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('This page is no longer valid')
    if (FOLDER) await page.screenshot({ path: `${FOLDER}/${name} used.png` })
    // The page loads nothing but itself, and nothing in it is against its own policy. Its second opening is a 404.
    const elsewhere = requested.filter((one) => !/\/(favicon\.ico|domain-setup\/return\?.*|apply\?.*)$/.test(one))
    expect(elsewhere).toEqual([])
    expect(complaints.filter((one) => !one.includes('404'))).toEqual([])
    await page.context().close()
  })

  it.each(SCREENS)('lists what is missing when the owner cancels, within the screen: %s', async (name, options) => {
    provider.consent = 'cancelled'
    const { domain, url } = await linked()
    const { page, complaints } = await open(url, options)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('You cancelled the change')
    expect(await page.getByRole('status').textContent()).toContain(`0 of 5 DNS records of ${domain}`)
    const items = page.getByRole('list', { name: 'DNS records' }).getByRole('listitem')
    expect(await items.count()).toBe(5)
    expect(await items.first().textContent()).toContain('Not found')
    const width = options.viewport?.width ?? 0
    const main = await page.locator('main').boundingBox()
    expect((main?.x ?? -1) >= 0 && (main?.x ?? 0) + (main?.width ?? width + 1) <= width).toBe(true)
    for (const item of await items.all()) {
      const box = await item.boundingBox()
      expect((box?.x ?? 0) + (box?.width ?? width + 1)).toBeLessThanOrEqual(width)
    }
    if (FOLDER) await page.screenshot({ path: `${FOLDER}/${name} cancelled.png`, fullPage: true })
    expect(complaints).toEqual([])
    await page.context().close()
  })
})
