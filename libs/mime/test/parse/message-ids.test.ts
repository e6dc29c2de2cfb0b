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
  })
})
