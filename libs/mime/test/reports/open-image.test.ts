import { randomUUID } from 'node:crypto'
import { OpenImage, UnsubscribeLink } from '../../src/index.ts'

const images = new OpenImage('secret')
const id = randomUUID()
const HOST = 'link.customer.example'
const tokenIn = (html: string) => /\/o\/([\w-]{43})"/.exec(html)?.[1] ?? ''

describe('the image that tells of opening', () => {
  it.each([
    ['at the end of the body', '<html><body><p>Hi</p></body></html>', '<html><body><p>Hi</p>', '</body></html>'],
    ['at the end of the last of several', '<body>a</body><BODY>b</BODY >', '<body>a</body><BODY>b', '</BODY >'],
    ['at the end of a text without one', '<p>İ Hi', '<p>İ Hi', ''],
  ])('is %s, and can be taken out again', (_, html, before, after) => {
    const marked = images.addTo(html, HOST, id)
    expect(marked.startsWith(`${before}<img src="https://${HOST}/o/`)).toBe(true)
    expect(marked.endsWith(`>${after}`)).toBe(true)
    expect(images.messageOf(tokenIn(marked))).toBe(id)
    expect(images.removeFrom(marked)).toBe(html)
  })

  it('is taken out however a mail program has rewritten its tag, wherever it is quoted', () => {
    const token = tokenIn(images.addTo('', HOST, id))
    const forms = [
      `<IMG alt='' src='https://${HOST}/o/${token}'/>`,
      `<img width=1 src=https://proxy.example/x#https://${HOST}/o/${token} >`,
      `<img\n src="https://${HOST}/o/${token}"\n style="display:none">`,
    ]
    expect(images.removeFrom(`a${forms.join('b')}c`)).toBe('abbc')
  })

  it('leaves what is not such an image', () => {
    const token = tokenIn(images.addTo('', HOST, id))
    const foreign = tokenIn(new OpenImage('other').addTo('', HOST, id))
    const others = [
      `<img src="https://${HOST}/o/${foreign}">`,
      `<a href="https://${HOST}/o/${token}">here</a>`,
      `https://${HOST}/o/${token}`,
      `<img src="x"> https://${HOST}/o/${token} <b>`,
      `<image src="https://${HOST}/o/${token}">`,
      `<img src="https://${HOST}/o/${token}`,
    ]
    for (const html of others) expect(images.removeFrom(html)).toBe(html)
  })

  it('takes time in proportion to a text that was made to be slow', () => {
    const token = tokenIn(images.addTo('', HOST, id))
    const made = ['</body', '</body >', '<img ', `/o/${token}`, `<img /o/${'a'.repeat(43)}`, `<img src=/o/${token}>`]
    for (const text of made) {
      const html = text.repeat(Math.ceil(3_000_000 / text.length))
      expect(images.addTo(html, HOST, id).length).toBeGreaterThan(html.length)
      expect(images.removeFrom(html).length).toBeLessThanOrEqual(html.length)
    }
  })

  it('has a token that is none of another kind, nor of another installation', () => {
    const link = new UnsubscribeLink({ publicUrl: 'https://api.example', secret: 'secret' })
    const token = tokenIn(images.addTo('', HOST, id))
    expect(link.deliveryOf(token)).toBeUndefined()
    expect(new OpenImage('other').messageOf(token)).toBeUndefined()
    expect(images.messageOf(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)).toBeUndefined()
    expect(images.messageOf('')).toBeUndefined()
  })
})
