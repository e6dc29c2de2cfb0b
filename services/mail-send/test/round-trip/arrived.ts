import { generateKeyPairSync } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { compose, type DkimKeys, withLeadingFields } from '@restante/mime'
import { MailPeer } from '@restante/testkit'
import { Session } from '../../src/delivery/smtp/session.ts'
import type { Wish } from './generated.ts'

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
/** What DNS says of the keys, by name. */
export const RECORDS: Readonly<Record<string, string>> = {
  's1._domainkey.example.test': `v=DKIM1; k=rsa; p=${derOf(rsa.publicKey).toString('base64')}`,
  's2._domainkey.example.test': `v=DKIM1; k=ed25519; p=${derOf(ed25519.publicKey).subarray(-32).toString('base64')}`,
}

/** The recipient of a mail, by its place. */
export const recipientOf = (at: number) => `to-${at}@outside.example`

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
  const { outcome } = await session.send(envelope, Readable.from([sent]), AbortSignal.timeout(60_000))
  expect(outcome).toMatchObject({ kind: 'delivered' })
}

/** What arrives at a server for each wish. */
export async function arrived(all: readonly Wish[]): Promise<Buffer[]> {
  const peer = await new MailPeer({ tls: false }).start()
  const remote = { name: peer.host, port: peer.port, tls: 'none', verified: false } as const
  const session = await Session.open(remote, 'mail.example.test', TIMEOUTS, AbortSignal.timeout(60_000))
  for (const [at, wish] of all.entries()) await send(session, wish, at)
  session.end()
  await peer.stop()
  return peer.mails.map(({ raw }) => raw)
}
