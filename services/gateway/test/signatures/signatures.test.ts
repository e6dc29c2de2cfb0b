import { createHash, randomBytes } from 'node:crypto'
import { PERMISSIONS } from '@restante/contracts/access'
import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { createSigner, httpbis } from 'http-message-signatures'
import { claimsOf } from '../fake-upstreams.ts'
import { CALLER_KEY, PUBLIC_URL, startGateway, type TestGateway } from '../gateway.ts'
import {
  type Asked,
  askSigned,
  newKey,
  registerKey,
  type SignedRequest,
  type Signer,
  send,
  sha256Digest,
  signedHeaders,
} from './signing.ts'

type Organization = Awaited<ReturnType<TestGateway['organization']>>

const NONCES = sql<{ nonce: string }, [id: string]>('select nonce from signature_nonces where credential_id = $1::uuid')

describe('signed requests', () => {
  let gateway: TestGateway
  let organization: Organization
  let signer: Signer
  const me = { method: 'GET', path: '/v0/auth/me' } as const

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
    signer = await register()
    await organization.api.post('/v0/inboxes', { username: 'desk', client_id: 'desk' })
  })
  afterAll(() => gateway.stop())

  const register = (body?: object, path?: string) => registerKey(organization.api, body, path)
  const ask = (given: Asked) => askSigned(gateway.url, { ...signer, ...given })

  describe('are accepted', () => {
    it('as the registered key, without a body and without a digest', async () => {
      const { status, body } = await ask(me)
      expect(status).toBe(200)
      expect(body).toMatchObject({ scope_type: 'organization', api_key_id: signer.keyId })
    })

    it('with a body whose digest is signed', async () => {
      const { status, body } = await ask({ method: 'POST', path: '/v0/inboxes', body: '{"username":"signed"}' })
      expect([status, body['inbox_id']]).toEqual([200, 'signed@restante.test'])
    })

    it.each([
      [
        'two digests',
        (body: string) => `sha-512=:${createHash('sha512').update(body).digest('base64')}:, ${sha256Digest(body)}`,
      ],
      ['one in an algorithm of its own beside ours', (body: string) => `md5=:AAAA:, ${sha256Digest(body)}`],
    ])('with %s', async (_case, digestOf) => {
      const body = '{"display_name":"Desk"}'
      const headers = { 'content-digest': digestOf(body) }
      expect((await ask({ method: 'PATCH', path: '/v0/inboxes/desk', body, headers })).status).toBe(200)
    })

    it('with more covered than required, and headers that no signature can cover', async () => {
      const { status } = await ask({
        ...me,
        headers: { 'content-digest': sha256Digest(''), accept: '*/*', 'x-thing': 'ü' },
        components: ['accept', '@method', 'content-digest', '@target-uri'],
        parameters: { alg: 'ecdsa-p256-sha256', tag: 'mine', expires: Math.floor(Date.now() / 1000) + 60 },
      })
      expect(status).toBe(200)
    })

    it('at each URL of the API, with the target exactly as it was sent', async () => {
      const path = '/v0/inboxes/desk%40restante.test?a=%C3%BC&b=1'
      for (const base of [PUBLIC_URL, gateway.url]) expect((await ask({ method: 'GET', path, base })).status).toBe(200)
    })

    it('when another implementation signs them', async () => {
      const body = '{"username":"foreign"}'
      const key = createSigner(signer.privateKey, 'ecdsa-p256-sha256', signer.keyId)
      const signed = await httpbis.signMessage(
        {
          key,
          name: 'sig1',
          fields: ['@method', '@target-uri', 'content-digest'],
          params: ['created', 'keyid', 'alg', 'nonce'],
          paramValues: { nonce: randomBytes(24).toString('base64') },
        },
        { method: 'POST', url: `${PUBLIC_URL}/v0/inboxes`, headers: { 'content-digest': sha256Digest(body) } },
      )
      const headers = Object.fromEntries(Object.entries(signed.headers).map(([name, value]) => [name, String(value)]))
      expect((await send(gateway.url, { method: 'POST', path: '/v0/inboxes', body }, headers)).status).toBe(200)
    })

    it('in the scope and with the permissions of the credential', async () => {
      const bound = await register({ permissions: { inbox_read: true } }, '/v0/inboxes/desk/api-keys')
      expect((await ask({ ...me, ...bound })).body).toMatchObject({
        scope_type: 'inbox',
        scope_id: 'desk@restante.test',
      })
      const listed = await ask({ method: 'GET', path: '/v0/inboxes', ...bound })
      expect(listed.body).toMatchObject({ count: 1, inboxes: [{ inbox_id: 'desk@restante.test' }] })
      expect((await ask({ method: 'GET', path: '/v0/inboxes/signed@restante.test', ...bound })).status).toBe(404)
      const denied = await ask({ method: 'GET', path: '/v0/webhooks', ...bound })
      expect([denied.status, denied.body['code']]).toEqual([403, 'missing_permission'])
    })

    it('and reach the service with exactly the signed bytes, and without the signature', async () => {
      gateway.behind.record()
      gateway.behind.seen.length = 0
      const body = `{"text":"${'ü'.repeat(2_000_000)}","to":"a@b.test"}`
      const path = '/v0/inboxes/desk/messages/send'
      expect((await ask({ method: 'POST', path, body })).status).toBe(200)
      const [seen] = gateway.behind.seen
      expect(seen?.body.equals(Buffer.from(body))).toBe(true)
      for (const name of ['signature', 'signature-input']) expect(seen?.headers).not.toHaveProperty(name)
      const claims = seen && (await claimsOf(seen, 'messages.send', CALLER_KEY))
      expect(claims?.caller.credential).toMatchObject({ id: signer.keyId, type: 'public_key' })
      expect(claims?.body).toBe(createHash('sha256').update(body).digest('base64url'))
    })

    it('and note when the key was used', async () => {
      const fresh = await register()
      await ask({ ...me, ...fresh })
      const record = () => organization.api.get(`/v0/api-keys/${fresh.keyId}`)
      const used = await waitFor(async () => (await record()).body['used_at'], { what: 'the time of the last use' })
      expect(Date.now() - Date.parse(String(used))).toBeLessThan(60_000)
    })
  })

  describe('replies', () => {
    const reply = { method: 'POST', path: '/v0/inboxes/desk/messages/%3Ca@b%3E/reply', body: '{"text":"Yes"}' } as const
    const replyAll = { ...reply, path: `${reply.path}-all` }
    const sending = { ...reply, path: '/v0/inboxes/desk/messages/send' }
    beforeAll(() => gateway.behind.record())

    it('need message_reply of a public key, and sending needs message_send', async () => {
      const replier = await register({ permissions: { message_reply: true } })
      const sender = await register({ permissions: { message_send: true } })
      const status = async (given: SignedRequest) => (await ask(given)).status
      expect([await status({ ...reply, ...replier }), await status({ ...replyAll, ...replier })]).toEqual([200, 200])
      expect(await status({ ...sending, ...sender })).toBe(200)
      expect([await status({ ...reply, ...sender }), await status({ ...replyAll, ...sender })]).toEqual([403, 403])
      expect(await status({ ...sending, ...replier })).toBe(403)
      expect((await ask({ ...reply, ...sender })).body['fix']).toContain('message_reply')
    })

    it('cover the target as it was sent, where the slashes of a message id were not encoded', async () => {
      const path = '/v0/inboxes/desk/messages/%3Cissue/7@tracker.test%3E/reply'
      expect((await ask({ ...reply, path })).status).toBe(200)
      expect(gateway.behind.seen.at(-1)?.path).toBe('/messages/%3Cissue%2F7%40tracker.test%3E/reply')
    })

    it('need message_send of a bearer key, whose message_reply has no effect', async () => {
      const status = async (permissions: object) => {
        const { body } = await organization.api.post('/v0/api-keys', { permissions })
        return (await gateway.as(String(body['api_key'])).post(reply.path, { text: 'Yes' })).status
      }
      expect([await status({ message_reply: true }), await status({ message_send: true })]).toEqual([403, 200])
    })
  })

  describe('a nonce', () => {
    it('is valid for one request of its key, in every process', async () => {
      const request = { ...signer, ...me, parameters: { nonce: randomBytes(16).toString('base64url') } }
      const headers = signedHeaders(request)
      const other = await gateway.another()
      const urls = Array.from({ length: 12 }, (_, turn) => (turn % 2 ? gateway.url : `http://127.0.0.1:${other.port}`))
      const answers = await Promise.all(urls.map((url) => send(url, me, headers)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const refused = answers.filter(({ status }) => status === 401)
      expect(refused).toHaveLength(11)
      for (const { body } of refused) expect(body['fix']).toContain('nonce')
      expect((await ask({ ...request, ...(await register()) })).status).toBe(200)
    })

    it('is not used up by a request that its key did not sign', async () => {
      const nonce = randomBytes(16).toString('base64url')
      expect((await ask({ ...me, parameters: { nonce }, privateKey: newKey().privateKey })).status).toBe(401)
      expect((await gateway.db.query(NONCES, signer.keyId)).map((row) => row.nonce)).not.toContain(nonce)
      expect((await ask({ ...me, parameters: { nonce } })).status).toBe(200)
    })
  })

  it('are answered 413 for a body that is too large, and the key keeps working', async () => {
    const body = JSON.stringify({ username: 'x'.repeat(1_100_000) })
    const { status, body: answer } = await ask({ method: 'POST', path: '/v0/inboxes', body })
    expect([status, answer['code']]).toEqual([413, 'payload_too_large'])
    expect((await ask(me)).status).toBe(200)
  })

  it('can have every permission of a public key: all but account_update', async () => {
    const { body } = await organization.api.get(`/v0/api-keys/${signer.keyId}`)
    expect(Object.keys(Object(body['permissions']))).toHaveLength(PERMISSIONS.length - 1)
  })
})
