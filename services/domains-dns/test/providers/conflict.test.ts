import { DnsZone } from '@restante/testkit'
import { Resolvers } from '../../src/dns/resolvers.ts'
import { findConflictingProvider } from '../../src/providers/conflict.ts'
import { MAILBOX_PROVIDERS, parseProviders } from '../../src/providers/table.ts'

describe('the search for a mailbox provider', () => {
  const zone = new DnsZone()
  let dns: Resolvers

  beforeAll(async () => {
    await zone.start()
    dns = new Resolvers({ servers: [zone.address] })
  })
  afterAll(() => zone.stop())

  let names = 0
  /** A name with these MX hosts. */
  function nameWith(...exchanges: string[]): string {
    const name = `d${++names}.example`
    zone.set(name, ...exchanges.map((exchange, n) => ({ type: 'MX' as const, exchange, priority: 10 * (n + 1) })))
    return name
  }

  const SUFFIXES = MAILBOX_PROVIDERS.flatMap(({ name, suffixes }) => suffixes.map((suffix) => [name, suffix] as const))

  it.each(SUFFIXES)('finds %s by a host at and below %s', async (provider, suffix) => {
    expect(await findConflictingProvider(dns, nameWith(suffix))).toBe(provider)
    expect(await findConflictingProvider(dns, nameWith(`a.b.${suffix}`))).toBe(provider)
    expect(await findConflictingProvider(dns, nameWith(`not${suffix}`))).toBeUndefined()
  })

  it('finds a provider after other hosts, in any letter case', async () => {
    expect(await findConflictingProvider(dns, nameWith('mx.elsewhere.example', 'ASPMX.L.Google.Com'))).toBe(
      'Google Workspace',
    )
  })

  it('finds none for a name with other hosts, or without any', async () => {
    expect(await findConflictingProvider(dns, nameWith('mx.elsewhere.example'))).toBeUndefined()
    expect(await findConflictingProvider(dns, nameWith())).toBeUndefined()
    expect(await findConflictingProvider(dns, 'unknown.example')).toBeUndefined()
  })

  it('looks at the exact name only, not at its parent', async () => {
    const parent = nameWith('aspmx.l.google.com')
    expect(await findConflictingProvider(dns, `agents.${parent}`)).toBeUndefined()
  })

  it('finds none when the name server fails or stays silent', async () => {
    zone.fail('failing.example')
    zone.silence('silent.example')
    expect(await findConflictingProvider(dns, 'failing.example')).toBeUndefined()
    expect(await findConflictingProvider(dns, 'silent.example')).toBeUndefined()
  })

  it('knows the providers that the installation adds', async () => {
    const more = parseProviders('Acme Mail = mx.acme.example , .acme.example. ; Other=other.example')
    expect(more).toEqual([
      { name: 'Acme Mail', suffixes: ['mx.acme.example', 'acme.example'] },
      { name: 'Other', suffixes: ['other.example'] },
    ])
    expect(
      await findConflictingProvider(dns, nameWith('in.acme.example'), [...MAILBOX_PROVIDERS, ...(more ?? [])]),
    ).toBe('Acme Mail')
  })

  it.each(['Acme', 'Acme=', '=a.example', 'Acme=a b', 'Acme=a.example,', 'A=b=c', 'A=a..example'])(
    'refuses %j as a list of providers',
    (text) => {
      expect(parseProviders(text)).toBeUndefined()
    },
  )

  it('reads an empty list of providers as none', () => {
    expect(parseProviders('')).toEqual([])
  })
})
