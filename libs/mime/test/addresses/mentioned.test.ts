import { readMentioned } from '../../src/index.ts'

const mentioned = (...fields: string[]) =>
  readMentioned(Buffer.from(`${fields.map((field) => `From: ${field}`).join('\r\n')}\r\nTo: x@y.co\r\n\r\nd@body.co`))

describe('the addresses that From mentions', () => {
  it.each<[string, string[]]>([
    ['a@b.co, c@d.co', ['a@b.co', 'c@d.co']],
    ['A B <a@b.co>, c@d.co (C)', ['a@b.co', 'c@d.co']],
    ['"ceo@bank.test" <x@evil.test>, y@z.co', ['ceo@bank.test', 'x@evil.test', 'y@z.co']],
    ['"ceo@bank.test"', ['ceo@bank.test']],
    ['(ceo@bank.test)', ['ceo@bank.test']],
    ['friends: a@b.co, c@d.co;', ['a@b.co', 'c@d.co']],
    ['=?utf-8?q?ceo=40bank=2Etest?=', ['ceo@bank.test']],
    ['<@relay.test:a@b.co>', ['a@b.co']],
    ['a @ b.co', ['a@b.co']],
    ['a@\r\n b.co', ['a@b.co']],
    ['a@b.co and A@B.CO', ['a@b.co']],
    ['Jürgen <jürgen@bücher.test>, x', ['jürgen@xn--bcher-kva.test']],
    ["'a@b.co', `c@d.co`", ['a@b.co', 'c@d.co']],
    ['write to a@b.co. Or c@d.co!', ['a@b.co', 'c@d.co']],
    ['a@b@c.co', ['b@c.co']],
    ['a@b', []],
    ['@b.co, a@', []],
    ['Mailer Daemon', []],
    ['', []],
  ])('in %j are %j', (field, addresses) => {
    expect(mentioned(field)).toEqual(addresses)
  })

  it('are those of all its fields', () => {
    expect(mentioned('a@b.co', 'c@d.co')).toEqual(['a@b.co', 'c@d.co'])
  })

  it('are none where there is no From', () => {
    expect(readMentioned(Buffer.from('To: x@y.co\r\n\r\nFrom: a@b.co\r\n'))).toEqual([])
  })

  it('are the first 20', () => {
    const many = Array.from({ length: 60 }, (_, index) => `a${index}@b.co`)
    expect(mentioned(many.join(', '))).toEqual(many.slice(0, 20))
  })
})
