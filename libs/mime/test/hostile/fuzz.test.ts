import { LIMITS } from '@restante/contracts/vocabulary'
import { byLength } from '@restante/service/testing'
import fc from 'fast-check'
import { parseHeadersOnly, readMail } from '../../src/index.ts'
import { fixture } from '../fixture.ts'

const FIXTURES = ['plain', 'alternative', 'mixed-related', 'html-only', 'bounce', 'complaint', 'flowed'] as const

/** Inputs that are hard for parsers, between random bytes. */
const TRAPS = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\r\n ',
  '\xff\xfe',
  '\xed\xa0\x80',
  '=00',
  '=D8=00',
  '%00',
  '=?utf-8?b?AAAA?=',
  '=?utf-16?b?2AA=?=',
  '=?x?q?=00?=',
  '&#0;&#xD800;',
  '<!--<![CDATA[<script><blockquote type=cite>',
  '"',
  '(',
  '<',
  ':',
  ';',
  '--',
  'Content-Type: multipart/mixed; boundary=""\r\n',
  'Content-Type: multipart/report; boundary=x\r\n\r\n--x\r\n',
  'Content-Type: text/html; charset=utf-7\r\n',
  'Content-Transfer-Encoding: base64\r\n',
  'Content-Transfer-Encoding: quoted-printable\r\n',
  "Content-Disposition: attachment; filename*0*=utf-8''%00%; filename*1=\"\\\r\n",
  'Message-ID: <\0>\r\n',
  '\r\nOn 1 Mar 2026 at 9:10, <\0@x> wrote:\r\n> ',
] as const

const insertion = fc.oneof(
  fc.constantFrom(...TRAPS),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
)
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat(40),
  insertion,
  times: fc.integer({ min: 1, max: 3 }),
})
const mutatedMail = fc
  .record({ name: fc.constantFrom(...FIXTURES), edits: fc.array(edit, { minLength: 1, maxLength: 6 }) })
  .map(({ name, edits }) => {
    let mail = fixture(name).toString('latin1')
    for (const { at, removed, insertion: inserted, times } of edits) {
      const from = Math.floor(at * mail.length)
      mail = mail.slice(0, from) + inserted.repeat(times) + mail.slice(from + removed)
    }
    return Buffer.from(mail, 'latin1')
  })

/** Every text in a value, the names of its members included. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  if (typeof value !== 'object' || value === null || value instanceof Date) return
  for (const [name, member] of Object.entries(value)) {
    yield name
    yield* textsIn(member)
  }
}

describe('a randomly damaged mail', () => {
  it('is read without throwing, into texts that PostgreSQL and JSON can store', () => {
    fc.assert(
      fc.property(mutatedMail, (raw) => {
        const texts = [...textsIn([readMail(raw), parseHeadersOnly(raw)])]
        expect(texts.filter((text) => text.includes('\0') || !text.isWellFormed())).toEqual([])
      }),
      { numRuns: byLength({ short: 500, long: 1_500 }) },
    )
  })

  it('is read within the limits, with the same result each time', () => {
    fc.assert(
      fc.property(mutatedMail, (raw) => {
        const mail = readMail(raw)
        expect(mail.attachments.length).toBeLessThanOrEqual(LIMITS.mime.parts)
        expect(mail.references.length).toBeLessThanOrEqual(LIMITS.mime.references)
        expect((mail.text ?? '').length).toBeLessThanOrEqual(raw.length)
        expect((mail.extractedText ?? '').length).toBeLessThanOrEqual((mail.text ?? '').length)
        expect(readMail(raw)).toEqual(mail)
      }),
      { numRuns: byLength({ short: 100, long: 200 }) },
    )
  })
})
