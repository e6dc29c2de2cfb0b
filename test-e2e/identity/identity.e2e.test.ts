import { LIMITS } from '@restante/contracts/vocabulary'
import { lastingPeriod, trueUntil, waitFor } from '@restante/testkit'
import { Api } from '../support/api.ts'
import { arrival, codeFor, mailTo } from '../support/mail.ts'
import { secretOf } from '../support/sdk.ts'
import { useSystem } from '../support/suite.ts'
import { clientOf, newUsername } from '../support/tenants.ts'
import { letCodesBeMailed } from '../support/time.ts'

describe('an agent that signs up', () => {
  const system = useSystem()
  const newHuman = () => system.peer.address(newUsername('human'))
  const anonymous = () => new Api(system.endpoints.gatewayUrl)

  async function signUp(body: { username?: string; human_email?: string } = {}) {
    const answer = await anonymous().post('/v0/agent/sign-up', { username: newUsername('agent'), ...body })
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
    const key = String(answer.body['api_key'])
    return {
      key,
      organizationId: String(answer.body['organization_id']),
      inboxId: String(answer.body['inbox_id']),
      api: new Api(system.endpoints.gatewayUrl, key),
      client: clientOf(system.endpoints, key),
    }
  }

  const codeOf = (human: string) => codeFor(system.peer, human)
  const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

  it('can write only to its human until the code is entered', async () => {
    const human = newHuman()
    const agent = await signUp({ human_email: human })
    const outsider = system.peer.address(newUsername())
    const send = (to: string[]) =>
      agent.client.inboxes.messages.send(agent.inboxId, { to, subject: 'Hi', text: 'Hello' })
    await send([human])
    await expect(send([human, outsider])).rejects.toMatchObject({
      statusCode: 403,
      body: expect.objectContaining({
        code: 'message_rejected',
        message: `Message rejected: Recipient(s) blocked: ${outsider} (not in allow list)`,
      }),
    })
    expect(await agent.api.post('/v0/api-keys', {})).toMatchObject({
      status: 403,
      body: { code: 'missing_permission' },
    })
    expect(await agent.api.post('/v0/inboxes', {})).toMatchObject({
      status: 403,
      body: { code: 'limit_exceeded', message: 'Inbox limit exceeded', resource: 'inbox', limit: 1 },
    })
    const code = await codeOf(human)
    expect(await agent.api.post('/v0/agent/verify', { otp_code: wrong(code) })).toMatchObject({
      status: 400,
      body: { errors: [{ path: ['otp_code'], message: expect.stringContaining('9') }] },
    })
    expect(await agent.client.agent.verify({ otpCode: code })).toEqual({ verified: true })
    await send([outsider])
    await system.peer.server.next(outsider)
    await agent.client.apiKeys.create({})
    await agent.client.inboxes.create({})
    expect(await agent.client.organizations.get()).toMatchObject({ authenticationType: 'agent_verified' })
    expect(await agent.api.post('/v0/agent/verify', { otp_code: code })).toMatchObject({ status: 403 })
  })

  it('can write ten mails a day until the code is entered', async () => {
    await lastingPeriod(86_400_000)
    const human = newHuman()
    const agent = await signUp({ human_email: human })
    const path = `/v0/inboxes/${encodeURIComponent(agent.inboxId)}/messages/send`
    const send = (text: string) => agent.api.post(path, { to: human, text })
    for (let mail = 1; mail <= 10; mail++) expect(await send(`Mail ${mail}`)).toMatchObject({ status: 200 })
    const refused = await send('One too many')
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limit_exceeded', message: 'Daily send limit exceeded' },
    })
    const untilMidnight = (new Date().setUTCHours(24, 0, 0, 0) - Date.now()) / 1000
    expect(Math.abs(Number(refused.headers.get('retry-after')) - untilMidnight)).toBeLessThan(60)
    await agent.client.agent.verify({ otpCode: await codeOf(human) })
    expect(await send('Free')).toMatchObject({ status: 200 })
  })

  it('can receive but not send without a human, and attaches one later', async () => {
    const agent = await signUp()
    expect(await mailTo({ tenant: agent, peer: system.peer }, agent.inboxId)).toMatchObject({ subject: 'Question' })
    const human = newHuman()
    const path = `/v0/inboxes/${encodeURIComponent(agent.inboxId)}/messages/send`
    expect(await agent.api.post(path, { to: human, text: 'Hi' })).toMatchObject({
      status: 403,
      body: { code: 'message_rejected' },
    })
    expect(await agent.api.post('/v0/agent/verify', { otp_code: '123456' })).toMatchObject({ status: 422 })
    expect(await agent.api.post('/v0/agent/human', { human_email: human })).toMatchObject({
      status: 200,
      body: { human_email: human, instructions: expect.any(String) },
    })
    expect(await agent.api.post('/v0/agent/verify', { otp_code: await codeOf(human) })).toMatchObject({ status: 200 })
  })

  it('gets no further attempt after ten wrong codes', async () => {
    const human = newHuman()
    const agent = await signUp({ human_email: human })
    const code = await codeOf(human)
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await agent.api.post('/v0/agent/verify', { otp_code: wrong(code) })).status).toBe(400)
    }
    for (const otp_code of [wrong(code), code]) {
      expect(await agent.api.post('/v0/agent/verify', { otp_code })).toMatchObject({
        status: 403,
        body: { code: 'limit_exceeded' },
      })
    }
  })

  it('gets its inbox back with a new key when it signs up again, and the old key ends', async () => {
    const human = newHuman()
    const first = await signUp({ human_email: human })
    const second = await signUp({ human_email: human })
    expect(second).toMatchObject({ organizationId: first.organizationId, inboxId: first.inboxId })
    expect(await second.client.auth.me()).toMatchObject({ organizationId: first.organizationId })
    const isAdmitted = async () => (await first.api.get('/v0/auth/me')).status !== 401
    expect(await trueUntil(isAdmitted, { what: 'the old key to die' })).toBeLessThan(LIMITS.apiKey.cache)
  })

  it('does not get access to received mail by naming the human: the new key is provisional', async () => {
    const human = newHuman()
    const owner = await signUp({ human_email: human })
    await mailTo({ tenant: owner, peer: system.peer }, owner.inboxId)
    await codeOf(human)
    await letCodesBeMailed(system.endpoints)
    const claimant = await signUp({ human_email: human })
    expect(claimant.inboxId).toBe(owner.inboxId)
    expect(await claimant.api.get('/v0/auth/me')).toMatchObject({ status: 200 })
    expect(await claimant.api.get('/v0/threads')).toMatchObject({ status: 403, body: { code: 'missing_permission' } })
    expect(await owner.api.get('/v0/threads')).toMatchObject({ status: 200, body: { count: 1 } })
    expect(
      await claimant.api.post('/v0/agent/verify', { otp_code: await codeFor(system.peer, human, 2) }),
    ).toMatchObject({
      status: 200,
    })
    await waitFor(async () => (await claimant.api.get('/v0/threads')).status === 200, { what: 'the full key' })
    await waitFor(async () => (await owner.api.get('/v0/threads')).status === 401, { what: 'the old key to die' })
  })

  it('is refused a taken or invalid name, and a human at a refused domain', async () => {
    const { inboxId } = await signUp()
    const username = inboxId.split('@')[0]
    const post = (body: object) => anonymous().post('/v0/agent/sign-up', body)
    expect(await post({ username })).toMatchObject({ status: 403, body: { code: 'resource_taken' } })
    expect(await post({ username: 'postmaster' })).toMatchObject({ status: 403, body: { code: 'resource_taken' } })
    expect(await post({ username: 'a b' })).toMatchObject({ status: 400, body: { errors: [{ path: ['username'] }] } })
    for (const human_email of ['human@example.com', `human@${system.endpoints.domain}`, 'nobody']) {
      expect(await post({ username: newUsername(), human_email })).toMatchObject({
        status: 400,
        body: { errors: [{ path: ['human_email'] }] },
      })
    }
  })
})

describe('keys', () => {
  const system = useSystem()
  const asKey = (created: object) => new Api(system.endpoints.gatewayUrl, secretOf(created))

  it('create only keys with rights of their own', async () => {
    const minter = asKey(
      await system.tenant.client.apiKeys.create({ permissions: { apiKeyCreate: true, messageRead: true } }),
    )
    expect(await minter.post('/v0/api-keys', { permissions: { message_read: true } })).toMatchObject({
      status: 200,
      body: { permissions: { message_read: true } },
    })
    expect(await minter.post('/v0/api-keys', {})).toMatchObject({
      body: { permissions: { api_key_create: true, message_read: true } },
    })
    expect(await minter.post('/v0/api-keys', { permissions: { message_send: true } })).toMatchObject({
      status: 403,
      body: { code: 'permission_escalation', fix: expect.stringContaining('message_send') },
    })
    expect(await minter.post('/v0/api-keys', { permissions: null })).toMatchObject({
      status: 403,
      body: { code: 'unrestricted_key_required' },
    })
  })

  it('act in their own scope, and see nothing outside of it', async () => {
    const [mine, other] = [await system.tenant.client.inboxes.create({}), await system.tenant.client.inboxes.create({})]
    const bound = asKey(await system.tenant.client.inboxes.apiKeys.create(mine.inboxId, {}))
    expect(await bound.get('/v0/inboxes')).toMatchObject({ body: { count: 1, inboxes: [{ inbox_id: mine.inboxId }] } })
    expect(await bound.get(`/v0/inboxes/${encodeURIComponent(other.inboxId)}`)).toMatchObject({
      status: 404,
      body: { message: 'Inbox not found' },
    })
    expect(await bound.get(`/v0/pods/${mine.podId}/inboxes`)).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    })
    expect(await bound.get('/v0/organizations')).toMatchObject({ status: 403, body: { code: 'missing_permission' } })
    const message = await mailTo(system, other.inboxId)
    expect(await bound.get(`/v0/threads/${message.threadId}`)).toMatchObject({ status: 404 })
    expect(await bound.get('/v0/threads')).toMatchObject({ body: { count: 0 } })
    expect(await arrival(system, other.inboxId, message.messageId)).toBeDefined()
  })

  it('end when they expire, and within a second of their deletion', async () => {
    const expires_at = new Date(Date.now() + 8_000).toISOString()
    const created = await system.tenant.api.post('/v0/api-keys', { expires_at })
    const expiring = new Api(system.endpoints.gatewayUrl, String(created.body['api_key']))
    expect(await expiring.get('/v0/auth/me')).toMatchObject({ status: 200 })
    const begun = Date.now()
    const isValid = async () => (await expiring.get('/v0/auth/me')).body['code'] !== 'api_key_expired'
    const validMs = await trueUntil(isValid, { what: 'the key to expire' })
    expect(begun + validMs).toBeLessThan(Date.parse(expires_at) + LIMITS.apiKey.cache)
    const made = await system.tenant.client.apiKeys.create({})
    const api = asKey(made)
    expect(await api.get('/v0/auth/me')).toMatchObject({ status: 200 })
    await system.tenant.client.apiKeys.delete(made.apiKeyId)
    const isKnown = async () => (await api.get('/v0/auth/me')).body['code'] !== 'unknown_api_key'
    expect(await trueUntil(isKnown, { what: 'the key to die' })).toBeLessThan(LIMITS.apiKey.cache)
  })

  it('get a stored response for an Idempotency-Key only while they may send', async () => {
    const { inboxId } = await system.tenant.client.inboxes.create({})
    const path = `/v0/inboxes/${encodeURIComponent(inboxId)}/messages/send`
    const headers = { 'idempotency-key': newUsername('once') }
    const body = { to: system.peer.address(newUsername()), text: 'Once' }
    const made = await system.tenant.client.apiKeys.create({})
    const sender = asKey(made)
    const reader = asKey(await system.tenant.client.apiKeys.create({ permissions: { messageRead: true } }))
    const first = await sender.post(path, body, { headers })
    expect(first.status).toBe(200)
    // Idempotency keys belong to the organization: any credential that may send gets the first response.
    expect(await system.tenant.api.post(path, body, { headers })).toMatchObject({ status: 200, body: first.body })
    expect(await reader.post(path, body, { headers })).toMatchObject({
      status: 403,
      body: { code: 'missing_permission' },
    })
    await system.tenant.client.apiKeys.delete(made.apiKeyId)
    await waitFor(async () => (await sender.post(path, body, { headers })).status === 401, {
      what: 'the key to die',
    })
    await system.peer.server.next(body.to)
    expect(system.peer.server.mailsTo(body.to)).toHaveLength(1)
  })

  it('are distinguished from invalid ones', async () => {
    const answer = (authorization?: string) =>
      new Api(system.endpoints.gatewayUrl).get('/v0/auth/me', {
        headers: authorization === undefined ? {} : { authorization },
      })
    expect(await answer()).toMatchObject({ status: 401, body: { code: 'missing_authorization' } })
    expect(await answer('bearer x')).toMatchObject({ status: 401, body: { code: 'missing_authorization' } })
    expect(await answer('Bearer a.b.c')).toMatchObject({ status: 401, body: { code: 'invalid_token_type' } })
    expect(await answer(`Bearer am_us_${'0'.repeat(64)}`)).toMatchObject({
      status: 401,
      body: { code: 'unknown_api_key' },
    })
  })
})
