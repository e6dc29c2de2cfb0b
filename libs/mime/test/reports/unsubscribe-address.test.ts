import { ReturnPath } from '../../src/reports/return-path.ts'
import { UnsubscribeAddress } from '../../src/reports/unsubscribe-address.ts'

const ID = '0f0c1f0e-2f43-4b66-9b6b-0242ac120002'
const options = { domain: 'bounces.example.com', secret: 'a secret of the installation' }
const unsubscribe = new UnsubscribeAddress(options)
const returnPath = new ReturnPath(options)

describe('UnsubscribeAddress', () => {
  it('finds the delivery of an address that it made, whatever case it returns in', () => {
    const address = unsubscribe.addressFor(ID)
    expect(address).toMatch(/^u\+[0-9a-f]{52}@bounces\.example\.com$/)
    expect(unsubscribe.deliveryOf(address)).toBe(ID)
    expect(unsubscribe.deliveryOf(address.toUpperCase())).toBe(ID)
  })

  it('is found in either form of an internationalized domain', () => {
    const [unicode, ascii] = ['Bücher.example', 'xn--bcher-kva.example']
    for (const domain of [unicode, ascii]) {
      const own = new UnsubscribeAddress({ ...options, domain })
      const [local] = own.addressFor(ID).split('@')
      expect(own.addressFor(ID)).toBe(`${local}@${ascii}`)
      for (const form of [unicode, ascii]) expect(own.deliveryOf(`${local}@${form}`)).toBe(ID)
    }
  })

  it('cannot be made from the return path of the same delivery, nor the other way round', () => {
    const forged = returnPath.addressFor(ID).replace(/^b/, 'u')
    expect(unsubscribe.deliveryOf(forged)).toBeUndefined()
    expect(unsubscribe.deliveryOf(returnPath.addressFor(ID))).toBeUndefined()
    expect(returnPath.deliveryOf(unsubscribe.addressFor(ID))).toBeUndefined()
    expect(returnPath.deliveryOf(unsubscribe.addressFor(ID).replace(/^u/, 'b'))).toBeUndefined()
  })

  it('rejects an address that was altered, made with another secret, or is of another domain', () => {
    const address = unsubscribe.addressFor(ID)
    const other = new UnsubscribeAddress({ ...options, secret: 'another secret entirely' })
    expect(unsubscribe.deliveryOf(address.replace('u+0', 'u+1'))).toBeUndefined()
    expect(unsubscribe.deliveryOf(other.addressFor(ID))).toBeUndefined()
    expect(unsubscribe.deliveryOf(address.replace('@bounces.', '@'))).toBeUndefined()
  })
})
