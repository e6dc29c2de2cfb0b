import { type Registration, registrableNames, registrationOf, standingOf } from '../src/index.ts'

const [MINE, OTHERS] = ['mine', 'others']

function registration(domain: string, more: Partial<Registration> = {}): Registration {
  const switches = { inbound_enabled: true, subdomains_enabled: false, feedback_enabled: true, sending_ready: true }
  const hosts = { return_path: `rp.${domain}`, tracking_host: null }
  return { id: domain, organization_id: MINE, domain, proven: true, ...switches, ...hosts, deleted: false, ...more }
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

describe('an organization holds an address', () => {
  const theirs = { organization_id: OTHERS }
  it.each<[string, string, Registration[], boolean]>([
    ['once it has proven the domain', 'example.test', [registration('example.test')], true],
    ['not before', 'example.test', [registration('example.test', { proven: false })], false],
    ['not without a registration', 'example.test', [], false],
    ['below a domain that it has proven', 'x.example.test', [registration('example.test')], true],
    [
      'below one that it has proven, while a registration in between is unproven',
      'x.example.test',
      [registration('example.test'), registration('x.example.test', { proven: false })],
      true,
    ],
    [
      'beside registrations of others that have proven nothing',
      'x.example.test',
      [registration('example.test'), registration('x.example.test', { ...theirs, proven: false })],
      true,
    ],
    [
      'not where another has proven a name in between',
      'y.x.example.test',
      [registration('example.test'), registration('x.example.test', theirs)],
      false,
    ],
    [
      'where another has proven only the domain above',
      'x.example.test',
      [registration('x.example.test'), registration('example.test', theirs)],
      true,
    ],
    [
      'not once another has proven the same domain',
      'example.test',
      [registration('example.test', { proven: false }), registration('example.test', theirs)],
      false,
    ],
    ['not after it deleted the domain', 'example.test', [registration('example.test', { deleted: true })], false],
  ])('%s (%s)', (_when, domain, registrations, holds) => {
    expect(standingOf(domain, MINE, registrations).holds).toBe(holds)
    expect(standingOf(domain, MINE, registrations.toReversed()).holds).toBe(holds)
  })
})
