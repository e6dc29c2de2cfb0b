import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { compose, type DkimKeys, parse, withLeadingFields } from '@restante/mime'
import { byLength, describeWith, MailPeer } from '@restante/testkit'
import fc from 'fast-check'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { z } from 'zod'
import { Session } from '../../src/delivery/smtp/session.ts'
import { type Wish, wishes } from './generated.ts'

const SEED = 20_261_123
const MAILS = byLength({ short: 250, long: 1_500 })
const TIMEOUTS = { connectMs: 10_000, answerMs: 30_000 }
const FIELDS = 'List-Unsubscribe: <https://a.test/u/x>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed25519 = generateKeyPairSync('ed25519')
const KEYS: DkimKeys = {
  domain: 'example.test',
  keys: [
    { selector: 's1', privateKey: rsa.privateKey },
    { selector: 's2', privateKey: ed25519.privateKey },
  ],
}
const derOf = (key: typeof rsa.publicKey) => key.export({ type: 'spki', format: 'der' })
const RECORDS: Readonly<Record<string, string>> = {
  's1._domainkey.example.test': `v=DKIM1; k=rsa; p=${derOf(rsa.publicKey).toString('base64')}`,
  's2._domainkey.example.test': `v=DKIM1; k=ed25519; p=${derOf(ed25519.publicKey).subarray(-32).toString('base64')}`,
}

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

const recipientOf = (at: number) => `to-${at}@outside.example`

/** Composes a mail, gives it the fields of its recipient, and sends it over an open session. */
async function send(session: Session, wish: Wish, at: number): Promise<void> {
  const { raw } = await compose({
    from: { name: wish.fromName, address: 'desk@example.test' },
    to: [{ name: wish.toName, address: recipientOf(at) }],
    subject: wish.subject,
    text: wish.text,
    html: wish.html,
    attachments: wish.files.map(({ filename, content }) => ({ filename, content: Buffer.from(content) })),
    headers: { 'X-Note': wish.note },
    messageId: `<${at}@example.test>`,
    date: new Date(0),
    dkim: KEYS,
  })
  const { content, difference } = await withLeadingFields(Readable.from([raw]), FIELDS, KEYS)
  const sent = await buffer(content)
  expect(sent.length).toBe(raw.length + difference)
  const envelope = { from: 'b@bounces.example.test', to: recipientOf(at), size: sent.length }
  const outcome = await session.send(envelope, Readable.from([sent]), AbortSignal.timeout(60_000))
  expect(outcome).toMatchObject({ kind: 'delivered' })
}

/** What arrives at a server for each wish. */
async function arrived(all: readonly Wish[]): Promise<Buffer[]> {
  const peer = await new MailPeer({ tls: false }).start()
  const remote = { name: peer.host, port: peer.port, tls: 'none', verified: false } as const
  const session = await Session.open(remote, 'mail.example.test', TIMEOUTS, AbortSignal.timeout(60_000))
  for (const [at, wish] of all.entries()) await send(session, wish, at)
  session.end()
  await peer.stop()
  return peer.mails.map(({ raw }) => raw)
}

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
  }, 120_000)

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
  }, 120_000)

  it('has signatures that verify', async () => {
    for (const raw of mails) {
      const { results } = await dkimVerify(raw, { resolver: async (name: string) => [[RECORDS[name] ?? '']] })
      expect(results.map(({ status }) => status.result)).toEqual(['pass', 'pass'])
    }
  }, 120_000)

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
