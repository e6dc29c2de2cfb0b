import type { Registration } from '@restante/domains'
import { nobodyReceives, refusesMail, takesDmarcReports } from '../../src/domains/rules.ts'

const [MINE, OTHERS] = ['mine', 'others']

function registration(domain: string, more: Partial<Registration> = {}): Registration {
  const switches = {
    proven: true,
    inbound_enabled: true,
    subdomains_enabled: false,
    feedback_enabled: true,
    sending_ready: true,
  }
  const hosts = { return_path: `rp.${domain}`, tracking_host: null }
  return { id: domain, organization_id: MINE, domain, ...switches, ...hosts, deleted: false, ...more }
}

const WITH_SUBDOMAINS = { subdomains_enabled: true }

describe('mail for an address', () => {
  it.each<[string, string, Registration[], boolean]>([
    ['at a domain that receives mail', 'example.test', [registration('example.test')], false],
    ['at one without inbound', 'example.test', [registration('example.test', { inbound_enabled: false })], true],
    [
      'at one without inbound, although its subdomains receive mail',
      'example.test',
      [registration('example.test', { inbound_enabled: false, ...WITH_SUBDOMAINS })],
      true,
    ],
    ['at a deleted domain', 'example.test', [registration('example.test', { deleted: true })], true],
    [
      'at a deleted domain that was registered again',
      'example.test',
      [registration('example.test', { deleted: true }), registration('example.test')],
      false,
    ],
    ['below a domain with subdomains', 'x.y.example.test', [registration('example.test', WITH_SUBDOMAINS)], false],
    [
      'below one that has no inbound itself',
      'x.example.test',
      [registration('example.test', { inbound_enabled: false, ...WITH_SUBDOMAINS })],
      false,
    ],
    ['below a domain without subdomains', 'x.example.test', [registration('example.test')], true],
    [
      'below a deleted domain that had them',
      'x.example.test',
      [registration('example.test', { ...WITH_SUBDOMAINS, deleted: true })],
      true,
    ],
    [
      'at the more specific of two domains, which has no inbound',
      'x.example.test',
      [registration('example.test', WITH_SUBDOMAINS), registration('x.example.test', { inbound_enabled: false })],
      true,
    ],
    [
      'at a deleted domain below one with subdomains',
      'x.example.test',
      [registration('example.test', WITH_SUBDOMAINS), registration('x.example.test', { deleted: true })],
      false,
    ],
    ['at a domain of which nothing is known', 'example.test', [], true],
    ['at a domain that is not proven', 'example.test', [registration('example.test', { proven: false })], true],
    [
      'at a domain that only another organization has deleted',
      'example.test',
      [registration('example.test'), registration('example.test', { organization_id: OTHERS, deleted: true })],
      false,
    ],
  ])('%s (%s)', (_where, domain, registrations, refused) => {
    expect(refusesMail(domain, MINE, registrations)).toBe(refused)
    expect(refusesMail(domain, MINE, registrations.toReversed())).toBe(refused)
  })

  it('that nobody has is refused for its domain when no organization receives mail there', () => {
    const closed = registration('example.test', { inbound_enabled: false })
    const open = registration('example.test', { organization_id: OTHERS })
    expect(nobodyReceives('example.test', [])).toBe(false)
    expect(nobodyReceives('example.test', [closed])).toBe(true)
    expect(nobodyReceives('example.test', [closed, open])).toBe(false)
  })
})

describe('reports of DMARC', () => {
  it('are taken at exactly a registered domain that receives mail', () => {
    const domain = registration('example.test', WITH_SUBDOMAINS)
    expect(takesDmarcReports('example.test', [domain])).toBe(true)
    expect(takesDmarcReports('x.example.test', [domain])).toBe(false)
    expect(takesDmarcReports('example.test', [{ ...domain, inbound_enabled: false }])).toBe(false)
    expect(takesDmarcReports('example.test', [{ ...domain, deleted: true }])).toBe(false)
  })
})
