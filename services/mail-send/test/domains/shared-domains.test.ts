import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { DOMAIN, type Fixture, factOf, inboxCaller, startWorld } from '../support/fixture.ts'

const SECOND = 'second.test'
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PUBLIC = RSA.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')

let fixture: Fixture
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'dkim-'))
  const file = path.join(folder, 'rsa.pem')
  await writeFile(file, RSA.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const dkim = { DKIM_SELECTOR: 's1', DKIM_KEY_FILE: file }
  fixture = await startWorld({ SHARED_DOMAINS: 'Second.test,third.test', ...dkim })
})
afterAll(async () => {
  await fixture.stop()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  const scope = { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID() }
  fixture.peers.answers = {
    'mail-ingest.placeSent': async () => ({}),
    'mail-ingest.acceptInbound': async () => ({ outcome: 'accepted' }),
    'mail-ingest.acceptForOperator': async () => ({ outcome: 'accepted' }),
    'gateway.resolveRecipients': async ({ addresses }) => ({
      recipients: addresses.map((given) =>
        given.startsWith('desk')
          ? { status: 'deliver', given, address: given, ...scope }
          : { status: 'unknown', given },
      ),
    }),
  }
})

async function sendFrom(domain: string, to: string): Promise<string> {
  const caller = inboxCaller()
  const inbox = { ...caller.inbox, address: `desk-${randomUUID().slice(0, 8)}@${domain}` }
  const body = { to, text: 'hello', headers: { 'List-Unsubscribe': '<https://elsewhere.example>' } }
  const answer = await fixture.call('messages.send', { ...caller, inbox }, { path: '/messages/send', body })
  expect(answer).toMatchObject({ status: 200 })
  return String(answer.body['message_id'])
}

describe('a further shared domain', () => {
  it.each([DOMAIN, SECOND])('signs for itself with the key of the installation: %s', async (domain) => {
    const to = `ann-${randomUUID().slice(0, 8)}@outside.example`
    const id = await sendFrom(domain, to)
    expect(id).toContain(`@${domain}>`)
    const { raw, mailFrom } = await fixture.outside.next(to)
    expect(mailFrom).toMatch(new RegExp(`@bounces\\.${DOMAIN}$`))
    expect(raw.toString()).toMatch(/^List-Unsubscribe: <http:\/\/127\.0\.0\.1:3000\/u\//m)
    const { results } = await dkimVerify(raw, {
      resolver: async (name, type) => {
        if (type === 'TXT' && name === `s1._domainkey.${domain}`) return [[`v=DKIM1; k=rsa; p=${PUBLIC}`]]
        throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
      },
    })
    expect(results).toMatchObject([{ signingDomain: domain, status: { result: 'pass', aligned: domain } }])
  })

  it('has its inboxes here: mail to them takes no way over SMTP', async () => {
    const to = `desk-${randomUUID().slice(0, 8)}@third.test`
    await factOf(fixture, await sendFrom(DOMAIN, to), 'delivery.delivered')
    expect(fixture.peers.requests('mail-ingest.acceptInbound').map(({ recipient }) => recipient)).toContain(to)
  })

  it.each(['postmaster', 'abuse'])('gives the mail to %s to the operator', async (local) => {
    const to = `${local}@${SECOND}`
    await factOf(fixture, await sendFrom(DOMAIN, to), 'delivery.delivered')
    expect(fixture.peers.requests('mail-ingest.acceptForOperator').map(({ recipient }) => recipient)).toContain(to)
  })
})
