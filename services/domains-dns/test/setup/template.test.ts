import { execFile } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { serviceCommand } from '@restante/service/process'
import { z } from 'zod'
import { expectedRecords } from '../../src/records/expected.ts'
import { SetupKey } from '../../src/setup/apply/key.ts'
import { groupsOf, templateOf } from '../../src/setup/apply/template.ts'

const FOLDER = path.resolve(import.meta.dirname, '../../../../deploy/domain-connect')
const COMMAND = path.resolve(import.meta.dirname, '../../src/setup/print-template.ts')
const run = promisify(execFile)

const installation = {
  mxHost: 'mx.restante.example',
  returnHost: 'mx.restante.example',
  spfInclude: 'spf.restante.example',
  selector: 'svc1',
  returnPathLabel: 'mail',
  trackingHost: 'track.restante.example',
}
const description = {
  providerId: 'restante.example',
  serviceId: 'mail',
  providerName: 'Restante',
  serviceName: 'Mail',
  keyDomain: 'keys.restante.example',
  returnHost: 'api.restante.example',
}

const text = z.string().min(1)
const id = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/)
const common = { groupId: id, host: text, essential: z.enum(['Always', 'OnApply']).optional() }
const ttl = z.int().min(1)
/** The rules of the public schema of templates for the members and types that this template has; no others are allowed. */
const publicRules = z.strictObject({
  providerId: id,
  providerName: text,
  serviceId: id,
  serviceName: text,
  version: z.int().min(1),
  description: text,
  variableDescription: text,
  syncBlock: z.literal(false),
  syncPubKeyDomain: text,
  syncRedirectDomain: text,
  records: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ ...common, type: z.literal('MX'), pointsTo: text, priority: z.int().min(0).max(65_535), ttl }),
      z.strictObject({ ...common, type: z.literal('CNAME'), pointsTo: text.regex(/^[^@]+$/), ttl }),
      z.strictObject({
        ...common,
        type: z.literal('TXT'),
        data: text,
        ttl,
        txtConflictMatchingMode: z.enum(['None', 'All', 'Prefix']).optional(),
        txtConflictMatchingPrefix: text.optional(),
      }),
      z.strictObject({ ...common, type: z.literal('SPFM'), spfRules: text.regex(/^(?!.*(v=spf1|[-~?+]all)).+$/) }),
    ]),
  ),
})
/** Names of parameters of the protocol, which no variable may have; the last three are filled in by the provider. */
const RESERVED = ['host', 'groupId', 'redirect_uri', 'state', 'sig', 'key', 'providerName', 'serviceName', 'instanceId']

describe('the template for DNS providers', () => {
  it('is kept in the repository as the installation of the examples has it, under the name that providers expect', async () => {
    const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json'))
    expect(files).toEqual(['restante.example.mail.json'])
    const kept: unknown = JSON.parse(await readFile(path.join(FOLDER, 'restante.example.mail.json'), 'utf8'))
    expect(kept).toEqual(JSON.parse(JSON.stringify(templateOf(installation, description))))
  })

  it('keeps to the public rules for templates', () => {
    const template = templateOf(installation, description)
    expect(publicRules.safeParse(template).error).toBeUndefined()
    const variables = [...JSON.stringify(template).matchAll(/%(\w+)%/g)].map(([, name]) => name)
    expect(new Set(variables)).toEqual(new Set(['sel', 'dkim', 'fqdn']))
    expect(variables.filter((name) => RESERVED.includes(name ?? ''))).toEqual([])
  })

  it('demands a signature, and merges the policy of SPF instead of writing it', () => {
    const { syncPubKeyDomain, syncRedirectDomain, records } = templateOf(installation, description)
    expect([syncPubKeyDomain, syncRedirectDomain]).toEqual(['keys.restante.example', 'api.restante.example'])
    expect(records.filter(({ data }) => data?.includes('spf1'))).toEqual([])
    expect(records).toContainEqual({
      groupId: 'core',
      type: 'SPFM',
      host: 'mail',
      spfRules: 'include:spf.restante.example',
    })
  })

  it('replaces of the records at _dmarc only one of DMARC', () => {
    const dmarc = templateOf(installation, description).records.find(({ host }) => host === '_dmarc')
    expect(dmarc).toMatchObject({ txtConflictMatchingMode: 'Prefix', txtConflictMatchingPrefix: 'v=DMARC1' })
  })

  it.each([false, true])('has a record for each one that a domain needs, all switches on: %s', (on) => {
    const domain = { name: 'example.com', inbound_enabled: on, subdomains_enabled: on, tracking_enabled: on }
    const groups = groupsOf(domain, installation)
    const given = templateOf(installation, description)
      .records.filter(({ groupId }) => groups.includes(groupId))
      .map(({ type, host }) => `${type} ${host.replace('%sel%', 'svc1')}`.replace('SPFM', 'TXT'))
    const needed = expectedRecords(domain, { selector: installation.selector, publicKey: 'key' }, installation).map(
      ({ type, name }) => `${type} ${name.replace(/\.?example\.com$/, '') || '@'}`,
    )
    expect(given.sort()).toEqual(needed.sort())
  })

  it('has no part for images where the installation serves none', () => {
    const without = { ...installation, trackingHost: undefined }
    const groups = templateOf(without, description).records.map(({ groupId }) => groupId)
    expect(groups).not.toContain('tracking')
    const domain = { name: 'example.com', inbound_enabled: true, subdomains_enabled: false, tracking_enabled: true }
    expect(groupsOf(domain, without)).toEqual(['core', 'inbound'])
  })
})

describe('the key of setup links', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

  it('is published in texts of at most 255 characters, which make up its public half', () => {
    const texts = new SetupKey(pem).published()
    expect(texts).toHaveLength(2)
    for (const [index, one] of texts.entries()) {
      expect(one).toMatch(new RegExp(`^p=${index + 1},a=RS256,d=[A-Za-z0-9+/=]+$`))
      expect(one.length).toBeLessThanOrEqual(255)
    }
    const spki = texts.map((one) => one.replace(/^.*d=/, '')).join('')
    const read = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' })
    expect(read.equals(publicKey)).toBe(true)
  })

  it('signs as RS256 does', () => {
    const signature = Buffer.from(new SetupKey(pem).sign('a=1&domain=example.com'), 'base64')
    expect(verify('sha256', Buffer.from('a=1&domain=example.com'), publicKey, signature)).toBe(true)
  })

  it.each([
    ['elliptic', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
    ['short', generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey],
    ['for another padding', generateKeyPairSync('rsa-pss', { modulusLength: 2_048 }).privateKey],
  ])('is refused when it is %s', (_, key) => {
    expect(() => new SetupKey(key.export({ type: 'pkcs8', format: 'pem' }).toString())).toThrow('RSA')
  })

  describe('and the command that prints it and the template', () => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: 'postgres://localhost/none',
      REDIS_URL: 'redis://localhost',
      KAFKA_BROKERS: 'localhost:9092',
      PUBLIC_URL: 'https://api.restante.example',
      GATEWAY_URL: 'http://localhost',
      MAIL_INGEST_URL: 'http://localhost',
      MAIL_SEND_URL: 'http://localhost',
      PEER_KEY_GATEWAY: 'key of a pair in the tests',
      PEER_KEY_MAIL_INGEST: 'key of a pair in the tests',
      PEER_KEY_MAIL_SEND: 'key of a pair in the tests',
      METRICS_URL: 'http://localhost',
      PEER_KEY_METRICS: 'key of a pair in the tests',
      CALLER_KEY: 'caller key of the tests',
      CURSOR_SECRET: 'the secret of the page tokens',
      ENCRYPTION_KEY: 'the key of the stored secrets',
      DEFAULT_DOMAIN: 'restante.example',
      MX_HOST: installation.mxHost,
      SPF_INCLUDE: installation.spfInclude,
      TRACKING_HOST: installation.trackingHost,
      DOMAIN_CONNECT_PROVIDER_ID: description.providerId,
      DOMAIN_CONNECT_SERVICE_ID: description.serviceId,
      DOMAIN_CONNECT_KEY_DOMAIN: description.keyDomain,
      DOMAIN_CONNECT_KEY: pem,
    }
    const print = (words: readonly string[], more: Record<string, string> = {}) => {
      const [program, ...rest] = serviceCommand(COMMAND)
      return run(program, [...rest, ...words], { env: { ...env, ...more } })
    }

    it('print the template of this installation', async () => {
      const { stdout } = await print(['template'])
      expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(templateOf(installation, description))))
    })

    it('print the records of the key as lines of a zone file', async () => {
      const { stdout } = await print(['key'])
      const lines = new SetupKey(pem).published().map((one) => `_dck1.keys.restante.example. 3600 IN TXT "${one}"\n`)
      expect(stdout).toBe(lines.join(''))
    })

    it.each([
      ['template', 'DOMAIN_CONNECT_KEY_DOMAIN'],
      ['key', 'DOMAIN_CONNECT_KEY'],
    ])('name what %s lacks: %s', async (word, variable) => {
      await expect(print([word], { [variable]: '' })).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining(variable),
      })
    })

    it('explain themselves when the words make no command', async () => {
      await expect(print(['keys'])).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('usage:') })
    })
  })
})
