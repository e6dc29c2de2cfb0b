import { subnetOf, withinNetworks } from '../src/connections/index.ts'

describe('the network of an address', () => {
  it.each([
    ['192.0.2.77', '192.0.2.0/24'],
    ['::ffff:192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:DB8:1:ffff::1', '2001:db8:1::/48'],
    ['no address', 'no address'],
  ])('of %s is %s', (address, network) => {
    expect(subnetOf(address)).toBe(network)
  })
})

describe('membership in networks', () => {
  const isWithin = withinNetworks(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'])

  it.each([
    ['10.255.0.1', true],
    ['::ffff:10.1.1.1', true],
    ['192.0.2.1', true],
    ['192.0.2.2', false],
    ['2001:db8:ffff::1', true],
    ['2001:db9::1', false],
    ['no address', false],
  ])('of %s is %s', (address, expected) => {
    expect(isWithin(address)).toBe(expected)
  })
})
