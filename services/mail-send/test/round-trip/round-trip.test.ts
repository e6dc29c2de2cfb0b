import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { parse } from '@restante/mime'
import { byLength, describeWith } from '@restante/testkit'
import fc from 'fast-check'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { z } from 'zod'
import { arrived, RECORDS, recipientOf } from './arrived.ts'
import { type Wish, wishes } from './generated.ts'

const SEED = 20_261_123
const MAILS = byLength({ short: 120, long: 1_500 })
const named = z.tuple([z.string(), z.string()])
const readMail = z.object({
  subject: z.string().nullable(),
  from: z.array(named),
  to: z.array(named),
  note: z.string().nullable(),
  text: z.string().nullable(),
  html: z.string().nullable(),
  attachments: z.array(z.object({ filename: z.string().nullable(), content: z.string() })),
})
type ReadMail = z.infer<typeof readMail>

function readByPython(mails: readonly Buffer[]): ReadMail[] {
  const input = mails.map((raw) => `${raw.toString('base64')}\n`).join('')
  const options = { input, maxBuffer: 1024 ** 3, encoding: 'utf8' } as const
  const output = execFileSync('python3', [path.join(import.meta.dirname, 'read_mails.py')], options)
  return output
    .trimEnd()
    .split('\n')
    .map((line) => readMail.parse(JSON.parse(line)))
}

/** Line ends become those of mail, and the last one belongs to its structure. */
const lines = (text: string | null | undefined) => (text ?? '').replace(/\r\n?|\n/g, '\n').replace(/\n$/, '')
/** A header is folded at blanks: how many there are in a row is not kept by every parser. */
const blanks = (text: string | null | undefined) => (text ?? '').replace(/\s+/gu, ' ').trim()

function asWished(wish: Wish, at: number): object {
  return {
    subject: blanks(wish.subject),
    from: [[blanks(wish.fromName), 'desk@example.test']],
    to: [[blanks(wish.toName), recipientOf(at)]],
    note: blanks(wish.note),
    text: lines(wish.text),
    html: lines(wish.html),
    attachments: wish.files.map(({ filename, content }) => ({
      filename: blanks(filename),
      content: Buffer.from(content).toString('base64'),
    })),
  }
}

function asRead({ subject, from, to, note, text, html, attachments }: ReadMail): object {
  const names = (all: ReadMail['from']) => all.map(([name, address]) => [blanks(name), address])
  return {
    subject: blanks(subject),
    from: names(from),
    to: names(to),
    note: blanks(note),
    text: lines(text),
    html: lines(html),
    attachments: attachments.map(({ filename, content }) => ({ filename: blanks(filename), content })),
  }
}

describeWith({ programs: ['python3'] }, `each of ${MAILS} generated mails`, () => {
  const all = fc.sample(wishes, { seed: SEED, numRuns: MAILS })
  let mails: Buffer[] = []
  beforeAll(async () => {
    mails = await arrived(all)
  }, 300_000)

  it("is read by Python's parser as it was asked for", () => {
    expect(mails).toHaveLength(MAILS)
    const read = readByPython(mails)
    for (const [at, wish] of all.entries()) {
      const one = read[at]
      expect(one && asRead(one)).toEqual(asWished(wish, at))
    }
  })

  it('is read by our own parser as it was asked for', () => {
    for (const [at, wish] of all.entries()) {
      const { subject, text, html, attachments } = parse(mails[at] ?? Buffer.alloc(0))
      expect({ subject: blanks(subject), text: lines(text), html: lines(html) }).toEqual({
        subject: blanks(wish.subject),
        text: lines(wish.text),
        html: lines(wish.html),
      })
      expect(attachments.map(({ size }) => size)).toEqual(wish.files.map(({ content }) => content.length))
    }
  })

  it('has signatures that verify', async () => {
    for (const raw of mails) {
      const { results } = await dkimVerify(raw, { resolver: async (name: string) => [[RECORDS[name] ?? '']] })
      expect(results.map(({ status }) => status.result)).toEqual(['pass', 'pass'])
    }
  })

  it('has no line that is too long for a transport', () => {
    for (const raw of mails) {
      const longest = Math.max(
        ...raw
          .toString('latin1')
          .split('\r\n')
          .map(({ length }) => length),
      )
      expect(longest).toBeLessThanOrEqual(998)
    }
  })
})
