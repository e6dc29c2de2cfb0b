import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { GuardedFetch } from '@restante/service/outbound'
import { createLogger } from '@restante/service/telemetry'
import { freePort, waitFor } from '@restante/testkit'
import { Resolvers } from '../../src/dns/resolvers.ts'
import { Discovery } from '../../src/setup/discovery/discovery.ts'
import { newName, tenant } from '../support/fixture.ts'
import { type SetupFixture, startSetup, TEMPLATE } from './support.ts'

/** Longer than all requests of a discovery may take together, with time for the rest. */
const PATIENCE_MS = 40_000

let service: SetupFixture
beforeAll(async () => {
  service = await startSetup()
})
afterAll(() => service.stop())
beforeEach(() => {
  service.provider.conduct = undefined
  service.provider.requests.length = 0
  for (const member of Object.keys(service.provider.settings)) delete service.provider.settings[member]
})

const { owner } = tenant()

/** A domain whose zone names this host as that of its DNS provider. */
async function domainAt(host: string): Promise<string> {
  const domain = await service.domain(owner)
  service.zone.set(`_domainconnect.${domain}`, { type: 'TXT', data: host })
  return domain
}

describe('a zone that names as its DNS provider', () => {
  it.each([
    ['a port', 'connect.provider.test:8443'],
    ['a scheme', 'http://connect.provider.test'],
    ['a user', 'x@connect.provider.test'],
    ['a user and a password', 'x:y@connect.provider.test'],
    ['a fragment', 'connect.provider.test#'],
    ['a query', 'connect.provider.test?a=b'],
    ['a percent-encoded slash', 'connect.provider.test%2f..'],
    ['a percent-encoded host', 'connect%2eprovider.test'],
    ['a path upwards', 'connect.provider.test/a/../../b'],
    ['an empty segment', 'connect.provider.test//other.test'],
    ['a backslash', 'connect.provider.test\\@other.test'],
    ['a space', 'connect.provider.test /a'],
    ['a line break', 'connect.provider.test/a\r\nhost: b'],
    ['a letter outside ASCII', 'connect.provider。test'],
    ['an IPv6 address', '[::1]'],
    ['a long path', `connect.provider.test/${'a'.repeat(600)}`],
    ['nothing', ''],
  ])('%s is asked nothing', async (_, host) => {
    expect(await service.link(owner, await domainAt(host))).toEqual({ supported: false })
    expect(service.provider.requests).toEqual([])
  })

  it('many hosts causes two requests at most', async () => {
    service.provider.conduct = (_, response) => void response.writeHead(404).end()
    const domain = await service.domain(owner)
    const hosts = ['a', 'b', 'c', 'd'].map((part) => ({
      type: 'TXT' as const,
      data: `${service.provider.host}/${part}`,
    }))
    service.zone.set(`_domainconnect.${domain}`, ...hosts)
    expect(await service.link(owner, domain)).toEqual({ supported: false })
    expect(service.provider.requests).toHaveLength(2)
  })

  it('a host below a path is asked below that path', async () => {
    await service.link(owner, await domainAt(`${service.provider.host}/dc/v1/`))
    expect(service.provider.requests[0]).toMatch(/^\/dc\/v1\/v2\/[^/]+\/settings$/)
  })
})

describe('a host of a DNS provider that is not public', () => {
  const log = createLogger({ service: 'test', level: 'silent' })
  const sockets: Socket[] = []
  const listener = createServer((socket) => void sockets.push(socket.on('error', () => {})))
  const clients: GuardedFetch[] = []
  let port: number

  beforeAll(async () => {
    port = await freePort()
    listener.listen(port, '127.0.0.1')
    await once(listener, 'listening')
  })
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
    await Promise.all(clients.map((client) => client.stop()))
  })

  /** Discovers as an installation does that reaches public hosts only, or loopback as well. */
  function discover(domain: string, allow: { readonly loopback?: boolean } = {}) {
    const dnsServers = [service.zone.address]
    const fetcher = new GuardedFetch({ version: '0', allow, dnsServers })
    clients.push(fetcher)
    const dns = new Resolvers({ servers: dnsServers })
    return new Discovery({ dns, fetcher, port, template: TEMPLATE, accepted: [], log }).find(domain)
  }

  function zoneAt(host: string): string {
    const domain = newName()
    service.zone.set(`_domainconnect.${domain}`, { type: 'TXT', data: host })
    return domain
  }

  it.each([
    ['a loopback address', '127.0.0.1'],
    ['a loopback address as one number', '2130706433'],
    ['a loopback address in hexadecimal', '0x7f.1'],
    ['localhost', 'localhost'],
    ['a private address', '10.0.0.1'],
    ['an address where clouds keep credentials', '169.254.169.254'],
  ])('is not connected to: %s', async (_, host) => {
    expect(await discover(zoneAt(host))).toEqual({})
    expect(sockets).toEqual([])
  })

  it.each([
    ['A', { type: 'A' as const, address: '127.0.0.1' }],
    ['A of a private network', { type: 'A' as const, address: '192.168.1.1' }],
    ['AAAA', { type: 'AAAA' as const, address: '::1' }],
    ['AAAA of a mapped address', { type: 'AAAA' as const, address: '::ffff:127.0.0.1' }],
    ['AAAA of a link', { type: 'AAAA' as const, address: 'fe80::1' }],
  ])('is not connected to, whatever record leads there: %s', async (_, record) => {
    const host = `evil.${newName()}`
    service.zone.set(host, record)
    expect(await discover(zoneAt(host))).toEqual({})
    expect(sockets).toEqual([])
  })

  it('is connected to where an installation allows it', async () => {
    const discovered = discover(zoneAt('localhost'), { loopback: true })
    const socket = await waitFor(async () => sockets.at(-1), { what: 'a connection' })
    socket.destroy()
    expect(await discovered).toEqual({})
  })
})

describe('a DNS provider that answers with', () => {
  const JSON_TYPE = { 'content-type': 'application/json' }
  const settings = () =>
    JSON.stringify({
      providerId: 'provider.test',
      providerName: 'Provider',
      urlSyncUX: service.provider.url,
      urlAPI: service.provider.url,
    })

  it.each<[string, (response: ServerResponse) => void]>([
    ['a redirect', (response) => void response.writeHead(302, { location: `${service.provider.url}/other` }).end()],
    [
      'a redirect that has settings as its content',
      (response) => void response.writeHead(301, { ...JSON_TYPE, location: 'https://x.test' }).end(settings()),
    ],
    ['a page', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(settings())],
    ['no type', (response) => void response.writeHead(200).end(settings())],
    ['half a document', (response) => void response.writeHead(200, JSON_TYPE).end(settings().slice(0, -1))],
    ['a list', (response) => void response.writeHead(200, JSON_TYPE).end(`[${settings()}]`)],
    ['an error', (response) => void response.writeHead(500, JSON_TYPE).end(settings())],
    [
      'more than 64 KiB',
      (response) => void response.writeHead(200, JSON_TYPE).end(`${settings()}${' '.repeat(64 * 1_024)}`),
    ],
    ['a broken connection', (response) => void response.socket?.destroy()],
  ])('%s is asked nothing more, and no link is offered', async (_, answer) => {
    service.provider.conduct = (_request, response) => answer(response)
    expect(await service.link(owner, await service.domain(owner))).toEqual({ supported: false })
    expect(service.provider.requests).toHaveLength(1)
  })

  it('settings byte by byte is left after 5 s', async () => {
    service.provider.conduct = (_, response) => {
      response.writeHead(200, JSON_TYPE).write('{')
      const trickle = setInterval(() => response.write(' '), 100)
      response.on('close', () => clearInterval(trickle))
    }
    const domain = await service.domain(owner)
    const since = performance.now()
    expect(await service.link(owner, domain)).toEqual({ supported: false })
    expect(performance.now() - since).toBeLessThan(PATIENCE_MS)
  })

  it.each<[string, (response: ServerResponse) => void]>([
    ['a redirect', (response) => void response.writeHead(302, { location: service.provider.url }).end()],
    ['a page', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Welcome')],
    ['more than 64 KiB', (response) => void response.writeHead(200, JSON_TYPE).end(' '.repeat(64 * 1_024 + 1))],
  ])('%s about the template does not support it', async (_, answer) => {
    service.provider.conduct = (request, response) => {
      if (request.url?.endsWith('/settings')) response.writeHead(200, JSON_TYPE).end(settings())
      else answer(response)
    }
    const link = await service.link(owner, await service.domain(owner))
    expect(link).toEqual({ supported: false, provider_name: 'Provider' })
  })
})

it('takes no provider for one whose certificate names another host', async () => {
  service.zone.set('other.provider.test', { type: 'A', address: '127.0.0.1' })
  expect(await service.link(owner, await domainAt('other.provider.test'))).toEqual({ supported: false })
  expect(service.provider.requests).toEqual([])
})
