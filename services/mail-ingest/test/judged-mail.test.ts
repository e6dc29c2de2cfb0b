import { text } from 'node:stream/consumers'
import { judgedMail } from '../src/pipeline/judged-mail.ts'

const judged = (mail: string): Promise<string> => text(judgedMail(Buffer.from(mail, 'latin1')))
const signature = (number: number): string => `DKIM-Signature: v=1; d=x.test; l=${number}; h=from;\r\n b=AAAA`
const from = 'From: Eve <eve@evil.test>'

describe('a mail is judged', () => {
  it.each([
    `${signature(1)}\r\n${from}\r\nX-Blanks:  a  \r\n\r\nbody \r\n\r\n`,
    `${from}\r\n\r\n`,
    `${from}\r\nTo: ${'a@b.test,\r\n '.repeat(10_000)}\r\n\r\nbody\r\n`,
    `${from}\r\n\r\n${'x'.repeat(200_000)}\r\n`,
  ])('as it came when there is nothing odd about it', async (mail) => {
    expect(await judged(mail)).toBe(mail)
  })

  it('by ten of its signatures', async () => {
    const signatures = Array.from({ length: 900 }, (_, number) => signature(number))
    const seen = await judged(`${signatures.join('\r\n')}\r\n${from}\r\n\r\nx\r\n`)
    expect(seen).toBe(`${signatures.slice(0, 10).join('\r\n')}\r\n${from}\r\n\r\nx\r\n`)
  })

  it.each(['DKIM-Signature: v=1;', 'ARC-Seal: i=1;', 'Received: from', 'Content-Type: text/plain;'])(
    'without fields that are too long to be taken apart: %s',
    async (start) => {
      expect(await judged(`${start}${' '.repeat(10_000)}x\r\n${from}\r\n\r\nx\r\n`)).toBe(`${from}\r\n\r\nx\r\n`)
    },
  )

  it('by a bounded part of an endless header, and by its body', async () => {
    const fields = await judged(`${from}\r\n${'X: y\r\n'.repeat(1_000_000)}\r\nbody\r\n`)
    expect(fields.length).toBeLessThan(300 * 1024)
    expect(fields.startsWith(`${from}\r\n`)).toBe(true)
    expect(fields.endsWith('\r\n\r\nbody\r\n')).toBe(true)
    expect(await judged(`${from}\r\nX: ${'y'.repeat(1_000_000)}\r\n\r\nbody\r\n`)).toBe(`${from}\r\n\r\nbody\r\n`)
  })

  it('up to a line of nothing but blanks that never ends', async () => {
    const body = `x\r\n${' '.repeat(1_000_000)}x\r\n`
    expect((await judged(`${from}\r\n\r\n${body}`)).length).toBeLessThan(100_000)
  })

  it('without a header, or without a body', async () => {
    expect(await judged('\r\njust words\r\n')).toBe('\r\njust words\r\n')
    expect(await judged(from)).toBe(`${from}\r\n\r\n`)
  })
})
