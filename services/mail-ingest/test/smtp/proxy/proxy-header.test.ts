import { readProxyHeader, SIGNATURE } from '../../../src/smtp/protocol/proxy-header.ts'

/** A header of version 2. */
function binary(command: number, family: number, block: number[], declared = block.length): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.from([command, family, declared >> 8, declared & 0xff, ...block])])
}

const V4 = [203, 0, 113, 5, 198, 51, 100, 7, 0xc8, 0x22, 0, 25]
const V6 = [...Buffer.from('20010db8000000000000000000000005fd000000000000000000000000000007c8220019', 'hex')]
const MAPPED = [...Buffer.from('00000000000000000000ffffcb007105fd000000000000000000000000000007c8220019', 'hex')]
/** An extension: type, length, value. */
const EXTENSION = [0xea, 0, 3, 1, 2, 3]

const WHOLE: readonly [string, Buffer, { address: string; port: number } | undefined][] = [
  [
    'TCP over IPv4',
    Buffer.from('PROXY TCP4 203.0.113.5 198.51.100.7 51234 25\r\n'),
    { address: '203.0.113.5', port: 51234 },
  ],
  [
    'TCP over IPv6',
    Buffer.from('PROXY TCP6 2001:db8::5 fd00::7 51234 25\r\n'),
    { address: '2001:db8::5', port: 51234 },
  ],
  [
    'an IPv4 client of an IPv6 listener',
    Buffer.from('PROXY TCP6 ::ffff:203.0.113.5 ::ffff:198.51.100.7 1 25\r\n'),
    { address: '203.0.113.5', port: 1 },
  ],
  ['an unknown client', Buffer.from('PROXY UNKNOWN\r\n'), undefined],
  ['an unknown client, with words that have no meaning', Buffer.from('PROXY UNKNOWN ffff::1 x 0 99999\r\n'), undefined],
  ['TCP over IPv4, binary', binary(0x21, 0x11, V4), { address: '203.0.113.5', port: 51234 }],
  ['TCP over IPv6, binary', binary(0x21, 0x21, V6), { address: '2001:db8::5', port: 51234 }],
  ['an IPv4 client of an IPv6 listener, binary', binary(0x21, 0x21, MAPPED), { address: '203.0.113.5', port: 51234 }],
  [
    'TCP over IPv4 with extensions, binary',
    binary(0x21, 0x11, [...V4, ...EXTENSION]),
    { address: '203.0.113.5', port: 51234 },
  ],
  ['a check of the proxy itself, binary', binary(0x20, 0x00, []), undefined],
  ['a check of the proxy itself with addresses, binary', binary(0x20, 0x11, V4), undefined],
  ['an unspecified protocol, binary', binary(0x21, 0x00, EXTENSION), undefined],
]

describe('a header of the PROXY protocol', () => {
  it.each(WHOLE)('names the client: %s', (_what, bytes, client) => {
    const following = Buffer.from('EHLO client.test\r\n')
    const header = readProxyHeader(Buffer.concat([bytes, following]))
    expect(header).toEqual({ kind: 'whole', length: bytes.length, client })
  })

  it.each(WHOLE)('is incomplete until its last byte: %s', (_what, bytes) => {
    for (let length = 0; length < bytes.length; length++)
      expect(readProxyHeader(bytes.subarray(0, length))).toEqual({ kind: 'incomplete' })
  })

  it.each([
    ['a command of SMTP', Buffer.from('EHLO client.test\r\n')],
    ['lower case', Buffer.from('proxy TCP4 203.0.113.5 198.51.100.7 51234 25\r\n')],
    ['another family', Buffer.from('PROXY TCP5 203.0.113.5 198.51.100.7 51234 25\r\n')],
    ['a word that begins with UNKNOWN', Buffer.from('PROXY UNKNOWNS\r\n')],
    ['addresses of the other family', Buffer.from('PROXY TCP4 2001:db8::5 fd00::7 51234 25\r\n')],
    ['a host name', Buffer.from('PROXY TCP4 client.test 198.51.100.7 51234 25\r\n')],
    ['an address with a zone', Buffer.from('PROXY TCP6 fe80::1%eth0@ fd00::7 51234 25\r\n')],
    ['two spaces', Buffer.from('PROXY TCP4  203.0.113.5 198.51.100.7 51234 25\r\n')],
    ['a missing port', Buffer.from('PROXY TCP4 203.0.113.5 198.51.100.7 51234\r\n')],
    ['a port above 65535', Buffer.from('PROXY TCP4 203.0.113.5 198.51.100.7 65536 25\r\n')],
    ['a port with a leading zero', Buffer.from('PROXY TCP4 203.0.113.5 198.51.100.7 051234 25\r\n')],
    ['a line without CR', Buffer.from('PROXY TCP4 203.0.113.5 198.51.100.7 51234 25\n')],
    ['a line of more than 107 bytes', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(100)}\r\n`)],
    ['a line that does not end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(100)}`)],
    ['another version, binary', binary(0x31, 0x11, V4)],
    ['another command, binary', binary(0x22, 0x11, V4)],
    ['UDP, binary', binary(0x21, 0x12, V4)],
    [
      'a UNIX socket, binary',
      binary(
        0x21,
        0x31,
        Array.from({ length: 216 }, () => 65),
      ),
    ],
    ['addresses that are cut off, binary', binary(0x21, 0x21, V4)],
    ['extensions of more than 4 KB, binary', binary(0x21, 0x11, V4, 4_097)],
    ['a signature with a wrong byte', Buffer.concat([SIGNATURE.subarray(0, 11), Buffer.from('x')])],
  ])('is refused: %s', (_what, bytes) => {
    expect(readProxyHeader(bytes)).toMatchObject({ kind: 'broken' })
  })
})
