import { judgedHeader } from '../../src/sender/judged-header.ts'

const judged = (header: string) => judgedHeader(Buffer.from(header, 'latin1'))
const signature = (number: number): string => `DKIM-Signature: v=1; d=x.test; l=${number}; h=from;\r\n b=AAAA`
const from = 'From: Eve <eve@evil.test>'

describe('a header is authenticated', () => {
  it.each([
    `${signature(1)}\r\n${from}\r\nX-Blanks:  a  \r\n\r\n`,
    `${from}\r\n\r\n`,
    `${from}\r\nTo: ${'a@b.test,\r\n '.repeat(10_000)}\r\n\r\n`,
  ])('unchanged when it is ordinary', (header) => {
    expect(judged(header).text).toBe(header)
  })

  it('with ten of its signatures', () => {
    const signatures = Array.from({ length: 900 }, (_, number) => signature(number))
    const { text, signed } = judged(`${signatures.join('\r\n')}\r\n${from}\r\n\r\n`)
    expect(text).toBe(`${signatures.slice(0, 10).join('\r\n')}\r\n${from}\r\n\r\n`)
    expect(signed).toBe(true)
  })

  it.each(['DKIM-Signature: v=1;', 'ARC-Seal: i=1;', 'Received: from', 'Content-Type: text/plain;'])(
    'without fields that are too long to be taken apart: %s',
    (start) => {
      const { text, signed } = judged(`${start}${' '.repeat(10_000)}x\r\n${from}\r\n\r\n`)
      expect([text, signed]).toEqual([`${from}\r\n\r\n`, false])
    },
  )

  it('with every From, however long', () => {
    const header = `From: CEO <ceo@bank.test> (${'a'.repeat(9_000)})\r\n${from}\r\n\r\n`
    expect(judged(header)).toEqual({ text: header, repeatsField: true, signed: false })
  })

  it('up to a bound when it is endless', () => {
    const { text } = judged(`${from}\r\n${'X: y\r\n'.repeat(1_000_000)}\r\n`)
    expect(text.length).toBeLessThan(300 * 1024)
    expect(text.startsWith(`${from}\r\n`)).toBe(true)
    expect(judged(`${from}\r\nX: ${'y'.repeat(1_000_000)}\r\n\r\n`).text).toBe(`${from}\r\n\r\n`)
  })

  it('without a header', () => {
    expect(judged('\r\n').text).toBe('\r\n')
    expect(judged(from).text).toBe(`${from}\r\n\r\n`)
  })
})

describe('a field that may occur once', () => {
  it.each([
    'Subject: a\r\nsubject : b',
    'To: a\r\nTO: b',
    'Content-Type: a/b\r\nContent-Type: a/b',
    'Content-Transfer-Encoding: base64\r\nContent-Transfer-Encoding: 7bit',
    'Date: a\r\nDate:\r\n b',
  ])('is detected when it occurs twice: %j', (fields) => {
    expect(judged(`${from}\r\n${fields}\r\n\r\n`).repeatsField).toBe(true)
  })

  it.each([
    'Received: a\r\nReceived: b',
    'Subject: a\r\nX-Subject: b',
    'Subject: a\r\n Subject: b',
    'Comments: a\r\nComments: b',
  ])('is not confused with others: %j', (fields) => {
    expect(judged(`${from}\r\n${fields}\r\n\r\n`).repeatsField).toBe(false)
  })
})
