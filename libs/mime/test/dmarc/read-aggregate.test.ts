import { gzipSync } from 'node:zlib'
import { createDmarcReader, type DmarcReader } from '../../src/index.ts'
import { zipOf } from '../documents/zip.ts'

const record = (ip: string, count = '1', disposition = 'none') =>
  `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated><disposition>${disposition}` +
  '</disposition><dkim>pass</dkim><spf>fail</spf></policy_evaluated></row><auth_results/></record>'

const report = (records = record('192.0.2.1'), { root = 'feedback', before = '' } = {}) =>
  `<?xml version="1.0" encoding="UTF-8"?>${before}<${root}><report_metadata><org_name>Receiver</org_name>` +
  '<report_id>r-1</report_id><date_range><begin>1764000000</begin><end>1764086399</end></date_range></report_metadata>' +
  `<policy_published><domain>Example.COM.</domain></policy_published>${records}</${root.split(' ')[0]}>`

const READ = {
  id: 'r-1',
  domain: 'example.com',
  begin: 1_764_000_000_000,
  rows: [{ sourceIp: '192.0.2.1', disposition: 'none', dkim: 'pass', spf: 'fail', messages: 1 }],
}

describe('the reader of DMARC reports', () => {
  let reader: DmarcReader

  beforeAll(() => {
    reader = createDmarcReader()
  })
  afterAll(() => reader.close())

  const xml = Buffer.from(report())
  it.each<[string, Buffer]>([
    ['gzip', gzipSync(xml)],
    ['zip', zipOf([{ name: 'example.xml', content: xml }])],
    ['XML', xml],
    [
      'XML in the namespace of RFC 9990',
      Buffer.from(report(undefined, { root: 'feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0"' })),
    ],
    ['XML with a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), xml])],
  ])('reads %s', async (_form, bytes) => {
    expect(await reader.read(bytes)).toEqual(READ)
  })

  it('adds the messages of equal rows', async () => {
    const rows = [record('192.0.2.1', '2'), record('192.0.2.1', '3'), record('192.0.2.1', '4', 'reject')]
    const read = await reader.read(Buffer.from(report(rows.join(''))))
    expect(read?.rows.map(({ disposition, messages }) => [disposition, messages])).toEqual([
      ['none', 5],
      ['reject', 4],
    ])
  })

  const BOMB = '<!DOCTYPE f [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
  const many = Array.from({ length: 1_001 }, (_, index) => record(`10.0.${index >> 8}.${index & 255}`)).join('')
  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['damaged gzip', Buffer.concat([gzipSync(xml).subarray(0, 40), Buffer.from('xx')])],
    ['a damaged zip', zipOf([{ name: 'a.xml', content: xml }]).subarray(0, 60)],
    ['a zip with two members', zipOf([1, 2].map((number) => ({ name: `${number}.xml`, content: xml })))],
    ['a zip whose member is larger than it says', zipOf([{ name: 'a.xml', content: xml, declared: 10 }])],
    ['gzip that inflates beyond 10 MB', gzipSync(Buffer.from(report().replace('Receiver', 'x'.repeat(11e6))))],
    ['gzip that inflates to hundreds of times its size', gzipSync(Buffer.alloc(5_000_000, ' '))],
    ['a zip that does', zipOf([{ name: 'a.xml', content: Buffer.alloc(5_000_000, ' ') }])],
    ['XML with an entity in place of a value', Buffer.from(report(record('&b;'), { before: BOMB }))],
    ['XML that ends early', xml.subarray(0, -12)],
    ['elements nested too deeply', Buffer.from(report('<a>'.repeat(50) + '</a>'.repeat(50)))],
    ['another document', Buffer.from('<html><body>hello</body></html>')],
    ['a source that is no address', Buffer.from(report(record('example.com')))],
    ['a count that is none', Buffer.from(report(record('192.0.2.1', '-1')))],
    ['an unknown disposition', Buffer.from(report(record('192.0.2.1', '1', 'other')))],
    ['more than 1,000 different rows', Buffer.from(report(many))],
    ['an id with blanks', Buffer.from(report().replace('r-1', 'r 1'))],
  ])('reads nothing from %s', async (_what, bytes) => {
    expect(await reader.read(bytes)).toBeUndefined()
  })
})
