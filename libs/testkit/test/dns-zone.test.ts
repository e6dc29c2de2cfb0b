import { Resolver } from 'node:dns/promises'
import { DnsZone, PATIENCE_MS } from '../src/index.ts'

describe('a zone', () => {
  let zone: DnsZone
  let resolver: Resolver
  beforeEach(async () => {
    zone = await new DnsZone().start()
    resolver = new Resolver({ timeout: PATIENCE_MS, tries: 1 })
    resolver.setServers([zone.address])
  })
  afterEach(() => zone.stop())

  it('answers with the records of a name', async () => {
    zone.set('one.test', { type: 'MX', exchange: 'mx.one.test', priority: 10 }, { type: 'TXT', data: 'v=spf1 -all' })
    zone.set('mx.one.test', { type: 'A', address: '127.0.0.9' })
    expect(await resolver.resolveMx('One.test')).toMatchObject([{ exchange: 'mx.one.test', priority: 10 }])
    expect(await resolver.resolveTxt('one.test')).toEqual([['v=spf1 -all']])
    expect(await resolver.resolve4('mx.one.test')).toEqual(['127.0.0.9'])
  })

  it('serves texts that only fit into TCP', async () => {
    const texts = Array.from({ length: 5 }, (_, index) => String(index).repeat(200))
    zone.set('big.test', ...texts.map((data) => ({ type: 'TXT', data }) as const))
    expect((await resolver.resolveTxt('big.test')).flat().sort()).toEqual(texts)
  })

  it('distinguishes a missing name from a missing record, and fails when set to', async () => {
    zone.set('one.test', { type: 'A', address: '127.0.0.9' }).fail('broken.test').silence('mute.test')
    await expect(resolver.resolveMx('one.test')).rejects.toMatchObject({ code: 'ENODATA' })
    await expect(resolver.resolveMx('two.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(resolver.resolveMx('broken.test')).rejects.toMatchObject({ code: 'ESERVFAIL' })
    const impatient = new Resolver({ timeout: 200, tries: 1 })
    impatient.setServers([zone.address])
    await expect(impatient.resolveMx('mute.test')).rejects.toMatchObject({ code: 'ETIMEOUT' })
  })

  it('derives records of names that are not set from rules', async () => {
    zone.rule((name) => (name.endsWith('.any.test') ? [{ type: 'A', address: '127.0.0.7' }] : undefined))
    expect(await resolver.resolve4('x.any.test')).toEqual(['127.0.0.7'])
  })
})
