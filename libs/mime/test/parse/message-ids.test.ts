import { parse } from '../../src/index.ts'

const referring = (header: string) => parse(Buffer.from(`From: a@x.test\r\n${header}\r\n\r\nHi`))

describe('the ids that a mail names', () => {
  it.each([
    ['in brackets, folded', '<a@x>\r\n <b@x>\t<c@x>', ['<a@x>', '<b@x>', '<c@x>']],
    ['in brackets, without a space', '<a@x><b@x>', ['<a@x>', '<b@x>']],
    ['without brackets', 'a@x b@x', ['<a@x>', '<b@x>']],
    ['without brackets, with commas', 'a@x, b@x,', ['<a@x>', '<b@x>']],
    ['a single word', 'ticket-17', ['<ticket-17>']],
    ['in brackets among words', 'Your mail to bo@x.test of Monday <a@x>', ['<a@x>']],
    ['none: a phrase', 'Your mail to bo@x.test', []],
    ['none: a quoted address', '"Bo" bo@x.test', []],
    ['none: two words', 'ticket 17', []],
    ['none: an empty pair', '<> < >', []],
  ])('%s', (_name, value, ids) => {
    expect(referring(`References: ${value}`).references).toEqual(ids)
    expect(referring(`In-Reply-To: ${value}`).answeredIds).toEqual(ids)
    expect(referring(`In-Reply-To: ${value}`).inReplyTo).toBe(ids[0])
  })

  it('are as many of In-Reply-To as of References: the first of one, the last of the other', () => {
    const raw = Buffer.from('In-Reply-To: <a@x> <b@x> <c@x>\r\nReferences: <a@x> <b@x> <c@x>\r\n\r\nHi')
    expect(parse(raw, { references: 2 })).toMatchObject({
      answeredIds: ['<a@x>', '<b@x>'],
      references: ['<b@x>', '<c@x>'],
      truncated: true,
    })
    expect(parse(Buffer.from('In-Reply-To: <a@x> <b@x>\r\n\r\n'), { references: 1 }).truncated).toBe(true)
  })
})
