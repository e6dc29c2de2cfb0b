import { createHash, randomBytes, sign } from 'node:crypto'
import { PERMISSIONS } from '@restante/contracts'
import { sql } from '@restante/service'
import { waitFor } from '@restante/testkit'
import { createSigner, httpbis } from 'http-message-signatures'
import { CALLER_KEY, PUBLIC_URL, startGateway, type TestGateway } from './gateway.ts'
import { newKey, type SignedRequest, send, sha256Digest, signedHeaders, type TestKey } from './signing.ts'
import { callerOf } from './stand-ins.ts'

type Organization = Awaited<ReturnType<TestGateway['organization']>>
type Signer = Pick<SignedRequest, 'keyId' | 'privateKey'>

const EXPIRE = sql<never, [id: string]>(
  "update credentials set expires_at = now() - interval '1 s' where id = $1::uuid",
)
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

  async function register(body: object = {}, path = '/v0/api-keys', key: TestKey = newKey()): Promise<Signer> {
    const answer = await organization.api.post(path, { public_key: key.jwk, ...body })
    expect(answer).toMatchObject({ status: 200 })
    return { keyId: String(answer.body['api_key_id']), privateKey: key.privateKey }
  }

  /** Signs and sends it. */
  async function ask(given: Omit<SignedRequest, keyof Signer> & Partial<Signer>) {
    const request = { ...signer, ...given }
    return send(gateway.url, request, signedHeaders(request))
  }

  async function refusal(given: Omit<SignedRequest, keyof Signer> & Partial<Signer>): Promise<string> {
    const { status, body } = await ask(given)
    expect([status, body['code'], body['name']]).toEqual([401, 'unauthorized', 'UnauthorizedError'])
    return String(body['fix'])
  }

  describe('are answered', () => {
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

    it('with more covered than is needed, and headers that no signature can cover', async () => {
      const { status } = await ask({
        ...me,
        headers: { 'content-digest': sha256Digest(''), accept: '*/*', 'x-thing': 'ü' },
        components: ['accept', '@method', 'content-digest', '@target-uri'],
        parameters: { alg: 'ecdsa-p256-sha256', tag: 'mine', expires: Math.floor(Date.now() / 1000) + 60 },
      })
      expect(status).toBe(200)
    })

    it('at each address that the API has, with the target exactly as it was sent', async () => {
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

    it('behind the gateway with exactly the bytes that were signed, and without the signature', async () => {
      gateway.behind.record()
      gateway.behind.seen.length = 0
      const body = `{"text":"${'ü'.repeat(2_000_000)}","to":"a@b.test"}`
      const path = '/v0/inboxes/desk/messages/send'
      expect((await ask({ method: 'POST', path, body })).status).toBe(200)
      const [seen] = gateway.behind.seen
      expect(seen?.body.equals(Buffer.from(body))).toBe(true)
      for (const name of ['signature', 'signature-input']) expect(seen?.headers).not.toHaveProperty(name)
      const caller = seen && (await callerOf(seen, 'messages.send', CALLER_KEY))
      expect(caller?.credential).toMatchObject({ id: signer.keyId, type: 'public_key' })
    })

    it('and note when the key was used', async () => {
      const fresh = await register()
      await ask({ ...me, ...fresh })
      const record = () => organization.api.get(`/v0/api-keys/${fresh.keyId}`)
      const used = await waitFor(async () => (await record()).body['used_at'], { what: 'the time of the last use' })
      expect(Date.now() - Date.parse(String(used))).toBeLessThan(10_000)
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

    it('need message_send of a bearer key, whose message_reply has no effect', async () => {
      const status = async (permissions: object) => {
        const { body } = await organization.api.post('/v0/api-keys', { permissions })
        return (await gateway.as(String(body['api_key'])).post(reply.path, { text: 'Yes' })).status
      }
      expect([await status({ message_reply: true }), await status({ message_send: true })]).toEqual([403, 200])
    })
  })

  describe('401', () => {
    it('says that a key and a signature exclude each other', async () => {
      const headers = { authorization: `Bearer ${organization.key}` }
      expect(await refusal({ ...me, headers })).toContain('no Authorization header')
    })

    it.each([
      ['without Signature', 'signature'],
      ['without Signature-Input', 'signature-input'],
    ])('%s', async (_case, name) => {
      const request = { ...signer, ...me }
      const { [name]: _left, ...headers } = signedHeaders(request)
      const { status, body } = await send(gateway.url, request, headers)
      expect([status, body['code']]).toEqual([401, 'unauthorized'])
      expect(body['fix']).toContain('RFC 9421')
    })

    it.each([
      ['another label', { label: 'sig2' }, 'sig1'],
      ['no method', { components: ['@target-uri'] }, '@method'],
      ['no target', { components: ['@method'] }, '@target-uri'],
      ['a part of a component', { components: ['@method', '@target-uri', '@method";req="'] }, '@method'],
      ['no created', { parameters: { created: undefined } }, 'created'],
      ['no nonce', { parameters: { nonce: undefined } }, 'nonce'],
      ['no keyid', { parameters: { keyid: undefined } }, 'keyid'],
      ['another algorithm', { parameters: { alg: 'hmac-sha256' } }, 'ecdsa-p256-sha256'],
      ['a short nonce', { parameters: { nonce: 'x'.repeat(21) } }, '16 random bytes'],
      ['a nonce without end', { parameters: { nonce: 'x'.repeat(257) } }, '16 random bytes'],
      ['an old signature', { parameters: { created: Math.floor(Date.now() / 1000) - 302 } }, 'clock'],
      ['one of the future', { parameters: { created: Math.floor(Date.now() / 1000) + 360 } }, 'clock'],
      ['one that has expired', { parameters: { expires: Math.floor(Date.now() / 1000) - 2 } }, 'expires'],
      ['another address', { base: 'https://elsewhere.test' }, PUBLIC_URL],
      ['the address without TLS', { base: PUBLIC_URL.replace('https', 'http') }, PUBLIC_URL],
    ])('for %s', async (_case, more, told) => {
      expect(await refusal({ ...me, ...more })).toContain(told)
    })

    it.each(['sig1=(', 'sig1=1', 'sig1', '"sig1"', 'sig1=("@method" "@method");keyid="a"', 'x'.repeat(9_000)])(
      'for the Signature-Input %j',
      async (input) => {
        const headers = { ...signedHeaders({ ...signer, ...me }), 'signature-input': input }
        const { status, body } = await send(gateway.url, me, headers)
        expect([status, body['code']]).toEqual([401, 'unauthorized'])
      },
    )

    it.each([
      ['the method', { method: 'PATCH' as const }],
      ['the path', { path: '/v0/inboxes/other' }],
      ['the query', { path: '/v0/inboxes/desk?x=1' }],
    ])('when %s is not the one that was signed', async (_case, other) => {
      const signed = { ...signer, method: 'GET' as const, path: '/v0/inboxes/desk' }
      const { status, body } = await send(gateway.url, { ...signed, ...other }, signedHeaders(signed))
      expect([status, body['code']]).toEqual([401, 'unauthorized'])
    })

    it('tells an unknown key, a bearer key and a wrong signature alike', async () => {
      const { body } = await organization.api.get('/v0/auth/me')
      const keyIds = ['', 'no id', crypto.randomUUID(), String(body['api_key_id'])]
      const told = await Promise.all(keyIds.map((keyId) => refusal({ ...me, keyId })))
      told.push(await refusal({ ...me, privateKey: newKey().privateKey }))
      expect(new Set(told).size).toBe(1)
    })

    it('takes no alias for the key, and no signature over less than its text', async () => {
      await register({ client_id: 'alias' })
      await refusal({ ...me, keyId: 'alias' })
      const headers = signedHeaders({ ...signer, ...me })
      const empty = sign('sha256', Buffer.alloc(0), { key: signer.privateKey, dsaEncoding: 'ieee-p1363' })
      const forged = { ...headers, signature: `sig1=:${empty.toString('base64')}:` }
      expect((await send(gateway.url, me, forged)).status).toBe(401)
    })

    describe('for a body', () => {
      const create = { method: 'POST', path: '/v0/inboxes', body: '{"username":"never"}' } as const
      afterAll(async () => expect((await organization.api.get('/v0/inboxes/never@restante.test')).status).toBe(404))

      it('without a digest that is covered', async () => {
        expect(await refusal({ ...create, components: ['@method', '@target-uri'] })).toContain('content-digest')
      })

      it('that is another one', async () => {
        const request = { ...signer, ...create, body: '{"username":"other"}' }
        const { status, body } = await send(gateway.url, create, signedHeaders(request))
        expect([status, body['fix']]).toEqual([401, expect.stringContaining('Content-Digest')])
      })

      it('where there was none', async () => {
        const request = { ...signer, method: 'POST' as const, path: '/v0/inboxes' }
        const { status } = await send(gateway.url, create, signedHeaders(request))
        expect(status).toBe(401)
      })

      it.each(['md5=:AAAA:', 'sha-256=1', 'sha-256=(:AAAA:)', 'not a digest', ''])(
        'with the digest %j',
        async (digest) => {
          expect(await refusal({ ...create, headers: { 'content-digest': digest } })).toContain('Content-Digest')
        },
      )

      it('of which one digest of two is wrong', async () => {
        const digest = `${sha256Digest(create.body)}, sha-512=:${Buffer.alloc(64).toString('base64')}:`
        expect(await refusal({ ...create, headers: { 'content-digest': digest } })).toContain('Content-Digest')
      })
    })

    it('api_key_expired for a key whose time is over, to its holder only', async () => {
      const old = await register()
      await gateway.db.query(EXPIRE, old.keyId)
      expect((await ask({ ...me, ...old })).body['code']).toBe('api_key_expired')
      expect((await ask({ ...me, keyId: old.keyId })).body['code']).toBe('unauthorized')
    })

    it('unauthorized at once for a key that was deleted or whose organization is gone', async () => {
      const gone = await register()
      expect((await ask({ ...me, ...gone })).status).toBe(200)
      await organization.api.delete(`/v0/api-keys/${gone.keyId}`)
      await refusal({ ...me, ...gone })
    })

    it('wins over the permission, and over the path', async () => {
      const bare = await register({ permissions: {} })
      const other = { ...bare, privateKey: newKey().privateKey }
      expect((await ask({ method: 'GET', path: '/v0/inboxes/none', ...other })).status).toBe(401)
      expect((await ask({ method: 'GET', path: '/v0/inboxes/none', ...bare })).status).toBe(403)
    })
  })

  describe('a nonce', () => {
    it('is good for one request of its key, in every process', async () => {
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
      await refusal({ ...me, parameters: { nonce }, privateKey: newKey().privateKey })
      expect((await gateway.db.query(NONCES, signer.keyId)).map((row) => row.nonce)).not.toContain(nonce)
      expect((await ask({ ...me, parameters: { nonce } })).status).toBe(200)
    })
  })

  it('413 for a body above what the operation takes, and the key goes on working', async () => {
    const body = JSON.stringify({ username: 'x'.repeat(1_100_000) })
    const { status, body: answer } = await ask({ method: 'POST', path: '/v0/inboxes', body })
    expect([status, answer['code']]).toEqual([413, 'payload_too_large'])
    expect((await ask(me)).status).toBe(200)
  })

  it('are held to what a public key may at most: everything but account_update', async () => {
    const { body } = await organization.api.get(`/v0/api-keys/${signer.keyId}`)
    expect(Object.keys(Object(body['permissions']))).toHaveLength(PERMISSIONS.length - 1)
  })
})
