import { ReturnPath } from '../../src/reports/return-path.ts'

const ID = '0f0c1f0e-2f43-4b66-9b6b-0242ac120002'
const paths = new ReturnPath({ domain: 'bounces.example.com', secret: 'a secret of the installation' })

describe('ReturnPath', () => {
  it('finds the delivery of an address that it made, whatever case it returns in', () => {
    const address = paths.addressFor(ID)
    expect(address).toMatch(/^b\+[0-9a-f]{52}@bounces\.example\.com$/)
    expect(paths.deliveryOf(address)).toBe(ID)
    expect(paths.deliveryOf(address.toUpperCase())).toBe(ID)
  })

  it('is valid at the domain of a customer that it was made for, and at no other', () => {
    const address = paths.addressFor(ID, 'rp.customer.example')
    expect(address).toMatch(/^b\+[0-9a-f]{52}@rp\.customer\.example$/)
    expect(paths.deliveryOf(address.toUpperCase())).toBe(ID)
    expect(paths.deliveryOf(address.replace('@rp.', '@'))).toBeUndefined()
    expect(paths.deliveryOf(address.replace(/@.*/, '@bounces.example.com'))).toBeUndefined()
  })

  it('rejects an address that was altered, made with another secret, or is of another domain', () => {
    const address = paths.addressFor(ID)
    const other = new ReturnPath({ domain: 'bounces.example.com', secret: 'another secret entirely' })
    expect(paths.deliveryOf(address.replace('b+0', 'b+1'))).toBeUndefined()
    expect(paths.deliveryOf(other.addressFor(ID))).toBeUndefined()
    expect(paths.deliveryOf(address.replace('@bounces.', '@'))).toBeUndefined()
    expect(paths.deliveryOf('b+@bounces.example.com')).toBeUndefined()
    expect(paths.deliveryOf('postmaster')).toBeUndefined()
  })
})
