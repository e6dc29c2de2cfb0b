import { isOwnTrouble } from '../../src/outbound/own-trouble.ts'

/** A failure of a socket as Node reports it. */
function failed(code: string, address = '192.0.2.1'): Error {
  return Object.assign(new Error(`connect ${code}`), { code, address })
}

describe('a failed connection', () => {
  it.each(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL', 'ENETUNREACH', 'ENETDOWN'])(
    'is trouble on this side with %s',
    (code) => {
      expect(isOwnTrouble(failed(code))).toBe(true)
    },
  )

  it.each(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'CERT_HAS_EXPIRED', 'ENOTFOUND'])(
    'is the fault of the host with %s',
    (code) => {
      expect(isOwnTrouble(failed(code))).toBe(false)
    },
  )

  it('is the fault of a host that has only IPv6, where this network has none', () => {
    expect(isOwnTrouble(failed('ENETUNREACH', '2001:db8::1'))).toBe(false)
  })

  it('is judged by all addresses of the host that were tried', () => {
    const [refused, unreachable] = [failed('ECONNREFUSED'), failed('ENETUNREACH', '2001:db8::1')]
    expect(isOwnTrouble(new AggregateError([refused, unreachable]))).toBe(false)
    expect(isOwnTrouble(new AggregateError([failed('ENETUNREACH'), unreachable]))).toBe(true)
    expect(isOwnTrouble(new AggregateError([refused, failed('EMFILE')]))).toBe(true)
  })

  it('says nothing where it has no code', () => {
    expect(isOwnTrouble(new Error('unknown'))).toBe(false)
    expect(isOwnTrouble(undefined)).toBe(false)
  })
})
