import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import type { LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Caller } from '@restante/contracts/access'
import { type SetupLink, setupLink } from '@restante/contracts/resources'
import { DomainConnectProvider, type ZoneRecord } from '@restante/testkit'
import { SetupKey } from '../../src/setup/apply/key.ts'
import { templateOf } from '../../src/setup/apply/template.ts'
import { type Fixture, MX_HOST, newName, startFixture } from '../support/fixture.ts'

export const TEMPLATE = { providerId: 'restante.test', serviceId: 'mail' }
export const KEY_DOMAIN = 'keys.restante.test'
export const KEY_LABEL = '_dck1'
export const PUBLIC_URL = 'https://api.restante.test'

export const INSTALLATION = {
  mxHost: MX_HOST,
  returnHost: MX_HOST,
  spfInclude: 'spf.restante.test',
  selector: 'svc1',
  returnPathLabel: 'mail',
  trackingHost: 'track.restante.test',
}

/** The service, a DNS provider that has its template, and the key of setup links in DNS. */
export interface SetupFixture extends Fixture {
  readonly provider: DomainConnectProvider
  /** A registration whose zone the provider has. */
  domain(caller: Caller, body?: Record<string, unknown>, records?: readonly ZoneRecord[]): Promise<string>
  /** The setup link of a domain; fails unless there is an answer. */
  link(caller: Caller, domain: string): Promise<SetupLink>
  /** Opens a link as a browser does. @returns status, and the address that it is sent to. */
  open(url: string): Promise<{ readonly status: number; readonly location: URL | undefined }>
}

/** @param overrides environment on top of what setup links need. */
export async function startSetup(overrides: Readonly<Record<string, string>> = {}): Promise<SetupFixture> {
  const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
  const [provider, directory] = await Promise.all([
    new DomainConnectProvider('connect.provider.test').start(),
    mkdtemp(path.join(tmpdir(), 'setup-')),
  ])
  const caFile = path.join(directory, 'ca.pem')
  await writeFile(caFile, provider.certificate)
  const fixture = await startFixture({
    PUBLIC_URL,
    DOMAIN_CONNECT_PROVIDER_ID: TEMPLATE.providerId,
    DOMAIN_CONNECT_SERVICE_ID: TEMPLATE.serviceId,
    DOMAIN_CONNECT_KEY: pem,
    DOMAIN_CONNECT_PORT: String(provider.port),
    DOMAIN_CONNECT_CA_FILE: caFile,
    ...overrides,
  })
  const texts = new SetupKey(pem).published().map((data) => ({ type: 'TXT' as const, data }))
  fixture.zone.set(`${KEY_LABEL}.${KEY_DOMAIN}`, ...texts)
  provider.templates.push(
    templateOf(INSTALLATION, {
      ...TEMPLATE,
      providerName: 'Restante',
      serviceName: 'Mail',
      keyDomain: KEY_DOMAIN,
      returnHost: new URL(PUBLIC_URL).hostname,
    }),
  )
  return {
    ...fixture,
    provider,
    async domain(caller, body = {}, records = []) {
      const name = newName()
      provider.serve(fixture.zone, name, { [name]: records })
      await fixture.register(caller, { domain: name, ...body })
      return name
    },
    async link(caller, domain) {
      const { status, body } = await fixture.call('domains.getSetupLink', caller, { domain })
      if (status !== 200) throw new Error(`no answer but ${status}: ${JSON.stringify(body)}`)
      return setupLink.parse(body)
    },
    async open(url) {
      const [response]: IncomingMessage[] = await once(get(url, { ca: provider.certificate, lookup }), 'response')
      const { statusCode: status = 0, headers } = response?.resume() ?? { headers: {} }
      return { status, location: headers.location === undefined ? undefined : new URL(headers.location) }
    },
    async stop() {
      await fixture.stop()
      await Promise.all([provider.stop(), rm(directory, { recursive: true })])
    },
  }
}

/** The hosts of the tests are on this machine. */
const lookup: LookupFunction = (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }])
