import { randomUUID } from 'node:crypto'
import { UnsubscribeAddress, UnsubscribeLink, unsubscribeFields } from '../../src/index.ts'

const publicUrl = 'https://api.restante.test'
const link = new UnsubscribeLink({ publicUrl, secret: 'secret' })
const address = new UnsubscribeAddress({ domain: 'bounces.restante.test', secret: 'secret' })
const id = randomUUID()
const tokenOf = (url: string) => url.slice(url.lastIndexOf('/') + 1)

describe('the link to unsubscribe', () => {
  it('names its delivery', () => {
    const url = link.linkFor(id)
    expect(url).toMatch(/^https:\/\/api\.restante\.test\/u\/[\w-]{43}$/)
    expect(link.deliveryOf(tokenOf(url))).toBe(id)
  })

  it('is in ASCII, as a header field is', () => {
    const other = new UnsubscribeLink({ publicUrl: 'https://bücher.test/mail', secret: 'secret' })
    expect(other.linkFor(id)).toMatch(/^https:\/\/xn--bcher-kva\.test\/mail\/u\/[\w-]{43}$/)
  })

  it('is worth nothing once altered, in any character', () => {
    const token = tokenOf(link.linkFor(id))
    for (let at = 0; at < token.length; at++) {
      const altered = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
      expect(link.deliveryOf(altered)).toBeUndefined()
    }
    for (const other of [
      '',
      token.slice(1),
      `${token}A`,
      `${token}=`,
      ` ${token}`,
      token.toLowerCase(),
      'ü'.repeat(43),
    ])
      expect(link.deliveryOf(other)).toBeUndefined()
  })

  it('is signed with the secret of the installation, and not as the addresses are', () => {
    const other = new UnsubscribeLink({ publicUrl, secret: 'another' })
    expect(link.deliveryOf(tokenOf(other.linkFor(id)))).toBeUndefined()
    const [, mac = ''] = /^u\+[0-9a-f]{32}([0-9a-f]{20})@/.exec(address.addressFor(id)) ?? []
    expect(Buffer.from(tokenOf(link.linkFor(id)), 'base64url').toString('hex')).not.toContain(mac)
  })

  it('is in the fields of a mail, beside the address', () => {
    expect(unsubscribeFields({ link, address }, id)).toBe(
      `List-Unsubscribe: <${link.linkFor(id)}>,\r\n <mailto:${address.addressFor(id)}?subject=unsubscribe>\r\n` +
        'List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n',
    )
  })
})
