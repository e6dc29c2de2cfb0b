import { type Registration, registrableNames, registrationOf } from '../src/index.ts'

const [MINE, OTHERS] = ['mine', 'others']

function registration(domain: string): Registration {
  const switches = { inbound_enabled: true, subdomains_enabled: false, feedback_enabled: true, sending_ready: true }
  const hosts = { return_path: `rp.${domain}`, tracking_host: null }
  return { id: domain, organization_id: MINE, domain, ...switches, ...hosts, deleted: false }
}

describe('the names by which an address can belong to a registration', () => {
  it('are its domain and those above it, down to two labels', () => {
    expect(registrableNames('a.b.example.test')).toEqual(['a.b.example.test', 'b.example.test', 'example.test'])
    expect(registrableNames('example.test')).toEqual(['example.test'])
    for (const none of ['test', '']) expect(registrableNames(none)).toEqual([])
  })
})

describe('an address of an organization', () => {
  it('follows its most specific live registration', () => {
    const [above, below] = [registration('example.test'), registration('x.example.test')]
    expect(registrationOf('y.x.example.test', MINE, [above, below])).toBe(below)
    expect(registrationOf('y.x.example.test', MINE, [above, { ...below, deleted: true }])).toBe(above)
    expect(registrationOf('example.test', OTHERS, [above])).toBeUndefined()
  })
})
