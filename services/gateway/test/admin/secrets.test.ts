import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { internalOperations } from '@restante/contracts/internal'
import type { InternalOperationDefinition } from '@restante/contracts/operations'
import { SERVICES, variablePart } from '@restante/contracts/vocabulary'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { EXIT, execute } from '../../src/admin/program.ts'
import { secretVariables } from '../../src/admin/secrets/needed.ts'

const ENGINES = [
  '--database-url',
  'postgres://u:p@pg/{service}?sslmode=verify-full',
  '--redis-url',
  'rediss://u:p@redis',
]

const secret = z.object({
  kind: z.literal('Secret'),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  stringData: z.record(z.string(), z.string()),
})

function unused(): never {
  throw new Error('the command needs no installation')
}

async function attempt(...words: string[]) {
  const [printed, said]: [string[], string[]] = [[], []]
  const code = await execute(
    {
      operator: unused,
      queue: unused,
      webhooks: unused,
      domains: unused,
      apps: unused,
      metrics: unused,
      installation: unused,
      publicUrl: unused,
      print: (line) => printed.push(line),
      say: (line) => said.push(line),
      ask: async () => undefined,
    },
    ['secrets', ...words],
  )
  const secrets = parseAllDocuments(printed.join('\n')).map((document) => secret.parse(document.toJS()))
  const of = (service: string) =>
    secrets.find(({ metadata }) => metadata.name.endsWith(`-${service}`))?.stringData ?? {}
  return { code, secrets, of, said: said.join('\n') }
}

/** What `kubectl get secrets -o json` prints. */
function asKubectl(secrets: readonly z.output<typeof secret>[]): string {
  const items = secrets.map(({ metadata, stringData }) => ({
    metadata,
    data: Object.fromEntries(
      Object.entries(stringData).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
    ),
  }))
  return JSON.stringify({ kind: 'List', items })
}

describe('the operator’s command for the Secrets of an installation', () => {
  it('prints one Secret for each service, with every variable without which the service does not start', async () => {
    const { code, secrets, of } = await attempt(...ENGINES, '--release', 'mail', '--namespace', 'agents')
    expect(code).toBe(EXIT.done)
    expect(secrets.map(({ metadata }) => [metadata.namespace, metadata.name])).toEqual(
      SERVICES.map((service) => ['agents', `mail-${service}`]),
    )
    const required = secretVariables().filter((variable) => variable.required)
    expect(required.length).toBeGreaterThan(30)
    for (const { service, name } of required) expect(of(service)[name]?.length).toBeGreaterThanOrEqual(16)
    expect(of('mail-send')['DATABASE_URL']).toBe('postgres://u:p@pg/mail-send?sslmode=verify-full')
  })

  it('gives the two sides of a key the same value, and every other key one of its own', async () => {
    const { of, secrets } = await attempt(...ENGINES)
    expect(of('gateway')['CALLER_KEY_MAIL_SEND']).toBe(of('mail-send')['CALLER_KEY'])
    expect(of('gateway')['PEER_KEY_DOMAINS_DNS']).toBe(of('domains-dns')['PEER_KEY_GATEWAY'])
    expect(of('mail-ingest')['PEER_KEY_WEBHOOKS_DISPATCHER']).toBe(of('webhooks-dispatcher')['PEER_KEY_MAIL_INGEST'])
    expect(of('mail-ingest')['RETURN_PATH_SECRET']).toBe(of('mail-send')['RETURN_PATH_SECRET'])
    expect(of('mail-ingest')['LINK_SECRET']).not.toBe(of('mail-send')['LINK_SECRET'])
    const counts = new Map<string, number>()
    for (const { stringData } of secrets)
      for (const [name, value] of Object.entries(stringData))
        if (!name.endsWith('_URL')) counts.set(value, (counts.get(value) ?? 0) + 1)
    // Every key of a caller or peer twice, RETURN_PATH_SECRET twice, and the others once.
    expect(new Set(counts.values())).toEqual(new Set([1, 2]))
  })

  it('gives each pair of services of which one may call the other a key', async () => {
    const { of } = await attempt(...ENGINES)
    for (const { id, service, callers } of Object.values<InternalOperationDefinition>(internalOperations)) {
      for (const caller of callers) {
        const key = of(service)[`PEER_KEY_${variablePart(caller)}`]
        const isShared = key !== undefined && key === of(caller)[`PEER_KEY_${variablePart(service)}`]
        expect({ id, caller, isShared }).toEqual({ id, caller, isShared: true })
      }
    }
  })

  it('gives a service without engines the keys that it shares with the gateway, and no more', async () => {
    const { of } = await attempt(...ENGINES, '--kafka-password', 'broker', '--redis-cache-url', 'redis://cache')
    expect(of('mcp')).toEqual({
      CALLER_KEY: of('gateway')['CALLER_KEY_MCP'],
      PEER_KEY_GATEWAY: of('gateway')['PEER_KEY_MCP'],
    })
  })

  it('prints other keys each time', async () => {
    const [first, second] = [await attempt(...ENGINES), await attempt(...ENGINES)]
    expect(first.of('gateway')['INSTALLATION_SECRET']).not.toBe(second.of('gateway')['INSTALLATION_SECRET'])
    expect(first.said).toMatch(/INSTALLATION_SECRET and ENCRYPTION_KEY must never change/)
  })

  it('gives engines to the services that use them, and single variables to one', async () => {
    const { of } = await attempt(
      ...ENGINES,
      ...['--kafka-password', 'broker', '--s3-access-key', 'id', '--s3-secret-key', 'key'],
      ...['--redis-cache-url', 'redis://cache', '--set', 'mail-send.SMARTHOST_PASSWORD=a=b "c"'],
    )
    expect(of('websocket-fanout')).toMatchObject({ KAFKA_SASL_PASSWORD: 'broker', REDIS_URL: 'rediss://u:p@redis' })
    expect(of('mail-ingest')).toMatchObject({ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' })
    expect(of('gateway')).not.toHaveProperty('AWS_ACCESS_KEY_ID')
    expect(of('gateway')['REDIS_CACHE_URL']).toBe('redis://cache')
    expect(of('mail-send')).not.toHaveProperty('REDIS_CACHE_URL')
    expect(of('mail-send')['SMARTHOST_PASSWORD']).toBe('a=b "c"')
  })

  describe('with the Secrets that exist', () => {
    let folder: string
    beforeAll(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'restante-secrets-'))
    })
    afterAll(() => rm(folder, { recursive: true }))

    it('keeps their values, adds what is missing, and takes what is given', async () => {
      const before = await attempt(...ENGINES)
      const file = path.join(folder, 'secrets.json')
      const without = before.secrets.filter(({ metadata }) => metadata.name !== 'restante-domains-dns')
      await writeFile(file, asKubectl(without))
      const after = await attempt(
        '--keep',
        file,
        '--set',
        'domains-dns.DATABASE_URL=postgres://new',
        ...ENGINES.slice(2),
      )
      expect(after.code).toBe(EXIT.done)
      expect(after.secrets.filter(({ metadata }) => metadata.name !== 'restante-domains-dns')).toEqual(without)
      // The other side of a key of a pair is known, the service's own keys are not.
      expect(after.of('domains-dns')['CALLER_KEY']).toBe(before.of('domains-dns')['CALLER_KEY'])
      expect(after.of('domains-dns')['ENCRYPTION_KEY']).not.toBe(before.of('domains-dns')['ENCRYPTION_KEY'])
      expect(after.of('domains-dns')['DATABASE_URL']).toBe('postgres://new')
      expect(after.said).toBe('')
    })

    it('refuses those whose shared keys differ', async () => {
      const { secrets } = await attempt(...ENGINES)
      const broken = secrets.map((it) =>
        it.metadata.name === 'restante-mail-send' ? { ...it, stringData: { ...it.stringData, CALLER_KEY: 'x' } } : it,
      )
      const file = path.join(folder, 'broken.json')
      await writeFile(file, asKubectl(broken))
      const refused = await attempt('--keep', file)
      expect(refused.code).toBe(EXIT.refused)
      expect(refused.said).toBe('CALLER_KEY_MAIL_SEND of gateway and CALLER_KEY of mail-send must be equal.')
    })
  })

  it('refuses what makes no Secrets, with the reason and without a value', async () => {
    const refused = async (...words: string[]) => {
      const { code, secrets, said } = await attempt(...words)
      expect(secrets).toEqual([])
      expect(code).not.toBe(EXIT.done)
      return said
    }
    expect(await refused('--redis-url', 'redis://r')).toMatch(/^Missing: DATABASE_URL of gateway, DATABASE_URL of /)
    expect(await refused(...ENGINES, '--set', 'gateway.LOG_LEVEL=debug')).toMatch(/^LOG_LEVEL is no secret of gateway/)
    expect(await refused(...ENGINES, '--set', 'post-office.CURSOR_SECRET=x')).toMatch(/^post-office is no service/)
    expect(await refused(...ENGINES, '--set', 'hunter2')).toBe('--set must have the form <service>.<VARIABLE>=<value>.')
    expect(await refused('--database-url', 'hunter2', ...ENGINES.slice(2))).not.toContain('hunter2')
    expect(await refused(...ENGINES, '--release', 'Not A Name')).toMatch(/lower-case letters, digits and dashes/)
  })
})
