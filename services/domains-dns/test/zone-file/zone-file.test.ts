import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { VerificationRecord } from '@restante/contracts/resources'
import { describeAtFullLength } from '@restante/testkit'
import { zoneFile } from '../../src/zone-file/zone-file.ts'
import { type Fixture, newName, startFixture, tenant } from '../support/fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
})
afterAll(() => fixture.stop())

const ALL = { subdomains_enabled: true, tracking_enabled: true }

/** The zone file of a new domain, with its records. */
async function published(body: Record<string, unknown>) {
  const { owner } = tenant()
  const { domain, records } = await fixture.register(owner, body)
  const file = await fixture.call('domains.getZoneFile', owner, { domain })
  return { domain, records, file }
}

describe('the zone file of a domain', () => {
  it('is a download that is named after the domain', async () => {
    const { domain, file } = await published({})
    expect(file.status).toBe(200)
    expect(file.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${domain}.zone"`)
  })

  it('has one line for each record, from which the record is read back', async () => {
    const { records, file } = await published(ALL)
    expect(records).toHaveLength(7)
    expect(file.text.trimEnd().split('\n').map(parse)).toEqual(records.map(shown))
  })

  it('divides texts of more than 255 octets into strings on one line', async () => {
    const { file } = await published({})
    const line = file.text.split('\n').find((one) => one.includes('_domainkey')) ?? ''
    const strings = [...line.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text.length)
    expect(strings[0]).toBe(255)
    expect(strings).toHaveLength(2)
  })

  it('escapes quotes and backslashes', () => {
    const file = zoneFile([{ kind: 'spf', type: 'TXT', name: 'a.example', value: 'a "b" \\c' }])
    expect(file).toBe('a.example. 300 IN TXT   "a \\"b\\" \\\\c"\n')
  })

  it('is 404 for a domain that is not there', async () => {
    expect((await fixture.call('domains.getZoneFile', tenant().owner, { domain: newName() })).status).toBe(404)
  })
})

describeAtFullLength({ programs: ['named-checkzone', 'knotc'] }, 'name servers', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'zone-file-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it.each([
    ['a domain that receives', {}],
    ['a domain with everything', ALL],
    ['a domain that only sends', { inbound_enabled: false }],
    ['a domain of letters outside ASCII', { ...ALL, domain: `bücher.${newName()}` }],
    ['a domain with a long name', { ...ALL, domain: `${'a'.repeat(63)}.${'b'.repeat(63)}.${newName()}` }],
  ])('load the zone file of %s without a warning', async (_, body) => {
    const { domain, records, file } = await published(body)
    const zone = path.join(folder, `${domain}.zone`)
    await writeFile(zone, frame(domain) + file.text)
    const run = promisify(execFile)
    const bind = await run('named-checkzone', ['-i', 'local', '-D', domain, zone])
    expect(bind.stderr).not.toMatch(/warning|error|ignor/i)
    for (const { name } of records) expect(bind.stdout).toContain(name)
    const settings = path.join(folder, `${domain}.conf`)
    await writeFile(settings, knotSettings(domain, zone))
    const knot = await run('knotc', ['-c', settings, 'zone-check', domain])
    expect(`${knot.stdout}${knot.stderr}`.trim()).toBe('')
  })
})

/** Settings of Knot DNS with one zone, whose meaning it checks as well. */
function knotSettings(domain: string, zone: string): string {
  const folder = JSON.stringify(path.dirname(zone))
  return [
    'server:',
    `    rundir: ${folder}`,
    'database:',
    `    storage: ${folder}`,
    'zone:',
    `  - domain: ${domain}`,
    `    file: ${JSON.stringify(zone)}`,
    '    semantic-checks: on',
    '',
  ].join('\n')
}

/** What every zone begins with. */
function frame(domain: string): string {
  return [
    `${domain}. 300 IN SOA ns1.${domain}. hostmaster.${domain}. 1 3600 600 86400 300`,
    `${domain}. 300 IN NS ns1.${domain}.`,
    `ns1.${domain}. 300 IN A 192.0.2.1`,
    '',
  ].join('\n')
}

function parse(line: string) {
  const [, name = '', type = '', rest = ''] = /^(\S+)\.\s+300 IN (\S+)\s+(.*)$/.exec(line) ?? []
  if (type === 'TXT') {
    const strings = [...rest.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
    return { type, name, value: strings.join('') }
  }
  const [, priority, target = ''] = /^(?:(\d+) )?(\S+)\.$/.exec(rest) ?? []
  return { type, name, value: target, ...(priority !== undefined && { priority: Number(priority) }) }
}

function shown({ type, name, value, priority }: VerificationRecord) {
  return { type, name, value, ...(priority !== undefined && { priority }) }
}
