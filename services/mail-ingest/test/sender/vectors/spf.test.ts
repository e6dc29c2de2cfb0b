import { readFileSync } from 'node:fs'
import { DnsZone, type ZoneRecord } from '@restante/testkit'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { judgeBy } from './judge-mail.ts'

/** A record of the suite, by its type; TIMEOUT: queries for the types that are not listed are never answered. */
const record = z.union([
  z.literal('TIMEOUT'),
  z.record(z.string(), z.union([z.string(), z.array(z.string()), z.tuple([z.int(), z.string()])])),
])
const section = z.object({
  description: z.string(),
  tests: z.record(
    z.string(),
    z.object({
      helo: z.string(),
      host: z.string(),
      mailfrom: z.string(),
      result: z.union([z.string(), z.array(z.string())]),
    }),
  ),
  zonedata: z.record(z.string(), z.array(record)),
})
type Section = z.output<typeof section>

/** The suite of openspf.org for RFC 7208, release 2014.04 (its licence lies beside it). */
const SUITE: readonly Section[] = parseAllDocuments(
  readFileSync(new URL('./rfc7208-tests.yml', import.meta.url), 'utf8'),
)
  .map((document) => section.safeParse(document.toJS()))
  .flatMap(({ data }) => (data === undefined ? [] : [data]))

/** A record of type SPF stands for TXT, unless the name has TXT records of its own. */
function recordsOf(entries: Section['zonedata'][string]): ZoneRecord[] {
  const listed = entries.flatMap((entry) => (entry === 'TIMEOUT' ? [] : Object.entries(entry)))
  const hasText = listed.some(([type]) => type === 'TXT')
  return listed.flatMap(([type, value]): ZoneRecord[] => {
    const name = String(value)
    switch (type) {
      case 'SPF':
      case 'TXT': {
        if (value === 'NONE' || (type === 'SPF' && hasText)) return []
        return [{ type: 'TXT', data: Array.isArray(value) ? value.map(String) : name }]
      }
      case 'MX':
        return Array.isArray(value) ? [{ type, priority: Number(value[0]), exchange: String(value[1]) }] : []
      case 'A':
      case 'AAAA':
        return [{ type, address: name }]
      case 'PTR':
      case 'CNAME':
        return [{ type, domain: name }]
      default:
        throw new Error(`a record of the type ${type}`)
    }
  })
}

async function openZone({ zonedata }: Section): Promise<DnsZone> {
  const zone = await new DnsZone().start()
  for (const [name, entries] of Object.entries(zonedata)) {
    const records = recordsOf(entries)
    zone.set(name, ...records)
    if (entries.includes('TIMEOUT') && !records.some(({ type }) => type === 'TXT')) zone.silence(name)
  }
  return zone
}

/**
 * Where the library or Node decides otherwise. None of these is a pass that should not be one: what the suite accepts counts
 * as broken, or as a failure of DNS.
 */
const OTHERWISE: Readonly<Record<string, { readonly result: string; readonly why: string }>> = {
  'null-text': { result: 'temperror', why: 'a TXT record without a string, which is no valid answer of DNS' },
  'a-colon-domain': { result: 'permerror', why: 'a name with a colon, which node:dns does not query' },
  'a-colon-domain-ip4mapped': { result: 'permerror', why: 'a name with a colon, which node:dns does not query' },
  'mx-colon-domain': { result: 'permerror', why: 'a name with a colon, which node:dns does not query' },
  'mx-colon-domain-ip4mapped': { result: 'permerror', why: 'a name with a colon, which node:dns does not query' },
  'macro-mania-in-domain': {
    result: 'permerror',
    why: 'a name with spaces and percents, which node:dns does not query',
  },
}

/** The result for each test of a section, and the one that is expected. */
async function resultsOf(each: Section) {
  const zone = await openZone(each)
  const raw = Buffer.from('From: ann@author.test\r\n\r\nx\r\n')
  const judged = Object.entries(each.tests).map(async ([name, { helo, host, mailfrom, result }]) => {
    const { authentication } = await judgeBy(zone, { raw, peer: host, helo, mailFrom: mailfrom })
    return { name, found: authentication.spf, expected: [result].flat() }
  })
  const results = await Promise.all(judged)
  await zone.stop()
  return results
}

describe('SPF', () => {
  it('is tried with the whole suite', () => {
    const names = SUITE.flatMap(({ tests }) => Object.keys(tests))
    expect(names).toHaveLength(203)
    expect(Object.keys(OTHERWISE).filter((name) => !names.includes(name))).toEqual([])
  })

  describe('has the results of RFC 7208', () => {
    const results = new Map<Section, Awaited<ReturnType<typeof resultsOf>>>()
    beforeAll(async () => {
      const note = async (each: Section) => results.set(each, await resultsOf(each))
      // Those that wait for answers which never come wait together; more at once would be late themselves.
      const waiting = SUITE.filter(({ zonedata }) =>
        Object.values(zonedata).some((entries) => entries.includes('TIMEOUT')),
      )
      await Promise.all(waiting.map(note))
      for (const each of SUITE) if (!results.has(each)) await note(each)
    })

    it.each(SUITE.map((each) => [each.description, each] as const))('%s', (_, each) => {
      const found = results.get(each) ?? []
      expect(found).toHaveLength(Object.keys(each.tests).length)
      const wrong = found.filter(({ name, found: result, expected }) =>
        OTHERWISE[name] === undefined ? !expected.includes(result) : OTHERWISE[name].result !== result,
      )
      expect(wrong).toEqual([])
      expect(found.filter(({ found: result, expected }) => result === 'pass' && !expected.includes('pass'))).toEqual([])
    })
  })

  describe('of a sender that connects over IPv6', () => {
    const addresses = ['sender.test', 'mail.sender.test', 'provider.test']

    async function judged(record: string, ...owners: readonly string[]): Promise<string> {
      const zone = await new DnsZone().start()
      const ofSender: ZoneRecord[] = [{ type: 'TXT', data: record }]
      const ofProvider: ZoneRecord[] = [{ type: 'TXT', data: 'v=spf1 a ip6:2001:db8::/32 -all' }]
      const address = (name: string): ZoneRecord[] =>
        owners.includes(name) ? [{ type: 'A', address: '192.0.2.9' }] : []
      zone.set(
        'sender.test',
        ...ofSender,
        { type: 'MX', priority: 10, exchange: 'mail.sender.test' },
        ...address('sender.test'),
      )
      zone.set('provider.test', ...ofProvider, ...address('provider.test'))
      zone.set('mail.sender.test', ...address('mail.sender.test'))
      const raw = Buffer.from('From: ann@sender.test\r\n\r\nx\r\n')
      const { authentication } = await judgeBy(zone, { raw, peer: '2001:db8::1', mailFrom: 'ann@sender.test' })
      await zone.stop()
      return authentication.spf
    }

    const RECORD = 'v=spf1 a mx a:mail.sender.test include:provider.test -all'

    it('passes although most names have addresses of IPv4 only', async () => {
      expect(await judged(RECORD, ...addresses)).toBe('pass')
    })

    it('is an error when more than two names have no address at all', async () => {
      expect(await judged(RECORD)).toBe('permerror')
    })
  })
})
