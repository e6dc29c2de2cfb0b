import { AddressPolicy, GuardedFetch, OutboundRefusedError } from '../../src/outbound/index.ts'

const REFUSED: [range: string, address: string, reason: string][] = [
  ['this network, 0.0.0.0/8', '0.0.0.0', 'unspecified'],
  ['this network, 0.0.0.0/8', '0.1.2.3', 'unspecified'],
  ['loopback, 127.0.0.0/8', '127.0.0.1', 'loopback'],
  ['loopback, 127.0.0.0/8', '127.255.255.254', 'loopback'],
  ['private, 10.0.0.0/8', '10.255.0.1', 'private'],
  ['private, 172.16.0.0/12', '172.31.255.255', 'private'],
  ['private, 192.168.0.0/16', '192.168.1.1', 'private'],
  ['carrier-grade NAT, 100.64.0.0/10', '100.127.255.255', 'shared'],
  ['link-local, 169.254.0.0/16', '169.254.1.1', 'link-local'],
  ['metadata of most clouds', '169.254.169.254', 'metadata'],
  ['metadata of Amazon containers', '169.254.170.2', 'metadata'],
  ['metadata of Alibaba', '100.100.100.200', 'metadata'],
  ['metadata of Oracle', '192.0.0.192', 'metadata'],
  ['host agent of Azure', '168.63.129.16', 'metadata'],
  ['protocol assignments, 192.0.0.0/24', '192.0.0.8', 'reserved'],
  ['documentation, 192.0.2.0/24', '192.0.2.1', 'reserved'],
  ['documentation, 198.51.100.0/24', '198.51.100.1', 'reserved'],
  ['documentation, 203.0.113.0/24', '203.0.113.1', 'reserved'],
  ['benchmarking, 198.18.0.0/15', '198.19.255.255', 'reserved'],
  ['6to4 relays, 192.88.99.0/24', '192.88.99.1', 'reserved'],
  ['multicast, 224.0.0.0/4', '239.255.255.250', 'multicast'],
  ['reserved, 240.0.0.0/4', '240.0.0.1', 'reserved'],
  ['broadcast', '255.255.255.255', 'multicast'],
  ['unspecified', '::', 'unspecified'],
  ['loopback', '::1', 'loopback'],
  ['IPv4-compatible, ::/96', '::127.0.0.1', 'loopback'],
  ['IPv4-compatible, ::/96', '::10.0.0.1', 'private'],
  ['IPv4-mapped loopback', '::ffff:127.0.0.1', 'loopback'],
  ['IPv4-mapped private, in hexadecimal', '::ffff:a00:1', 'private'],
  ['IPv4-mapped metadata', '::ffff:169.254.169.254', 'metadata'],
  ['IPv4-translated, ::ffff:0:0:0/96', '::ffff:0:127.0.0.1', 'reserved'],
  ['NAT64 of loopback', '64:ff9b::127.0.0.1', 'loopback'],
  ['NAT64 of private', '64:ff9b::a00:1', 'private'],
  ['NAT64 of metadata', '64:ff9b::a9fe:a9fe', 'metadata'],
  ['local NAT64, 64:ff9b:1::/48', '64:ff9b:1::808:808', 'reserved'],
  ['unique local, fc00::/7', 'fd12:3456::1', 'private'],
  ['metadata of Amazon, IPv6', 'fd00:ec2::254', 'metadata'],
  ['link-local, fe80::/10', 'fe80::1', 'link-local'],
  ['link-local with a zone', 'fe80::1%eth0', 'link-local'],
  ['site-local, fec0::/10', 'fec0::1', 'reserved'],
  ['multicast, ff00::/8', 'ff02::1', 'multicast'],
  ['documentation, 2001:db8::/32', '2001:db8::1', 'reserved'],
  ['documentation, 3fff::/20', '3fff::1', 'reserved'],
  ['discard, 100::/64', '100::1', 'reserved'],
  ['Teredo, 2001::/32', '2001:0:7f00:1::', 'reserved'],
  ['benchmarking, 2001:2::/48', '2001:2::1', 'reserved'],
  ['ORCHID, 2001:20::/28', '2001:20::1', 'reserved'],
  ['6to4, 2002::/16', '2002:7f00:1::', 'reserved'],
  ['segment routing, 5f00::/16', '5f00::1', 'reserved'],
  ['unassigned, outside 2000::/3', '4000::1', 'reserved'],
  ['not an address', 'localhost', 'reserved'],
]

describe('the address policy', () => {
  it.each(REFUSED)('refuses %s: %s (%s)', (_range, address, reason) => {
    expect(new AddressPolicy().refusal(address)).toBe(reason)
  })

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.1',
    '172.32.0.1',
    '2606:4700:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('lets the public address %s pass', (address) => {
    expect(new AddressPolicy().refusal(address)).toBeUndefined()
  })

  it('allows loopback where configured, in every spelling, and nothing else', () => {
    const policy = new AddressPolicy({ loopback: true })
    for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
      expect(policy.refusal(address)).toBeUndefined()
    expect(policy.refusal('10.0.0.1')).toBe('private')
    expect(policy.refusal('0.0.0.0')).toBe('unspecified')
  })

  it('allows configured networks, but never the metadata addresses in them', () => {
    const policy = new AddressPolicy({ networks: ['10.1.0.0/16', 'fd00::/8', '169.254.0.0/16'] })
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1', '169.254.7.7'])
      expect(policy.refusal(address)).toBeUndefined()
    expect(policy.refusal('10.2.0.1')).toBe('private')
    expect(policy.refusal('169.254.169.254')).toBe('metadata')
    expect(policy.refusal('fd00:ec2::254')).toBe('metadata')
  })

  it('refuses to start with an invalid network', () => {
    expect(() => new AddressPolicy({ networks: ['10.0.0.0'] })).toThrow()
  })
})

describe('a URL with an address in it', () => {
  const outbound = new GuardedFetch({ version: '1', allow: { http: true } })
  afterAll(() => outbound.stop())

  it.each([
    ['http://127.0.0.1/', 'loopback'],
    ['http://2130706433/', 'loopback'],
    ['http://0x7f.1/', 'loopback'],
    ['http://0177.0.0.1/', 'loopback'],
    ['http://127.1/', 'loopback'],
    ['http://127.0.1/', 'loopback'],
    ['http://017700000001/', 'loopback'],
    ['http://0x7f000001/', 'loopback'],
    ['http://0x7F.0x0.0x0.0x1/', 'loopback'],
    ['http://127.0.0.1./', 'loopback'],
    ['http://%31%32%37.0.0.1/', 'loopback'],
    ['http://127。0。0。1/', 'loopback'],
    ['http://3232235777/', 'private'],
    ['http://0xa9fea9fe/', 'metadata'],
    ['http://2852039166/', 'metadata'],
    ['http://0251.0376.0251.0376/', 'metadata'],
    ['http://100.64.0.1/', 'shared'],
    ['http://198.18.0.1/', 'reserved'],
    ['http://224.0.0.1/', 'multicast'],
    ['http://[::ffff:7f00:1]/', 'loopback'],
    ['http://[0:0:0:0:0:ffff:127.0.0.1]/', 'loopback'],
    ['http://[::7f00:1]/', 'reserved'],
    ['http://[64:ff9b::10.0.0.1]/', 'private'],
    ['http://[64:ff9b:1::a00:1]/', 'reserved'],
    ['http://[2002:a00:1::]/', 'reserved'],
    ['http://[2001:0:4136:e378:8000:63bf:f5ff:fffe]/', 'reserved'],
    ['http://[fec0::1]/', 'reserved'],
    ['http://[fc00::1]/', 'private'],
    ['http://[fd00:ec2::254]/', 'metadata'],
    ['http://[ff02::1]/', 'multicast'],
    ['http://[2001:db8::1]/', 'reserved'],
    ['http://[::]/', 'unspecified'],
    ['http://[fe80::1%25eth0]/', 'url'],
    ['http://１２７.0.0.1/', 'loopback'],
    ['http://[::1]/', 'loopback'],
    ['http://[::ffff:127.0.0.1]/', 'loopback'],
    ['http://[64:ff9b::a9fe:a9fe]/', 'metadata'],
    ['http://169.254.169.254/latest/meta-data/', 'metadata'],
    ['http://0/', 'unspecified'],
    ['http://localhost/', 'loopback'],
    ['http://localhost./', 'loopback'],
    ['http://anything.localhost/', 'loopback'],
    ['https://10.0.0.1:8443/', 'private'],
    ['ftp://8.8.8.8/', 'protocol'],
    ['file:///etc/passwd', 'protocol'],
    ['data:text/plain,x', 'protocol'],
    ['https://user:secret@example.com/', 'credentials'],
    ['/relative', 'url'],
    ['https://', 'url'],
  ])('is refused: %s (%s)', async (url, reason) => {
    const attempt = outbound.fetch(url, { timeoutMs: 60_000, maxBytes: 10 })
    await expect(attempt).rejects.toMatchObject({ name: 'OutboundRefusedError', reason })
    await expect(attempt).rejects.toBeInstanceOf(OutboundRefusedError)
  })

  it('is refused when it is http and only https is allowed', async () => {
    const strict = new GuardedFetch({ version: '1', allow: { loopback: true } })
    await expect(strict.fetch('http://127.0.0.1/', { timeoutMs: 60_000, maxBytes: 10 })).rejects.toMatchObject({
      reason: 'protocol',
    })
    await strict.stop()
  })
})
