import { sql } from '@restante/service/database'
import { byLength, countRows, waitFor } from '@restante/testkit'
import { callerOf, type SystemMail } from '../fake-upstreams.ts'
import { type Api, CALLER_KEY, startGateway, type TestGateway } from '../gateway.ts'

const ageCode = sql<never, [human: string]>(
  "update verification_codes set expires_at = now() - interval '1 s' where human_email = $1",
)
const ageMails = sql<never, [human: string]>(
  "update code_mails set created_at = created_at - interval '61 s' where human_email = $1",
)
const unmail = sql<never, [human: string]>('update verification_codes set mailed_at = null where human_email = $1')
const attempts = sql<{ attempts: number }, [human: string]>(
  'select attempts from verification_codes where human_email = $1',
)
const isMailed = sql<{ mailed: boolean }, [human: string]>(
  'select bool_and(mailed_at is not null) as mailed from verification_codes where human_email = $1',
)
const countAll = sql<{ organizations: number; pods: number; inboxes: number; keys: number; events: number }>(`
select (select count(*)::int from organizations) as organizations, (select count(*)::int from pods) as pods,
       (select count(*)::int from inboxes) as inboxes, (select count(*)::int from credentials) as keys,
       (select count(*)::int from outbox) as events`)
const deleteKey = sql<never, [prefix: string]>('delete from credentials where prefix = $1')
const blocked = sql<{ pid: number }>(
  "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
)
const breakKeys = sql<never>(`
create or replace function fail() returns trigger language plpgsql as $$ begin raise exception 'broken for a test'; end $$`)
const installBreak = sql<never>('create trigger broken before insert on verification_codes execute function fail()')
const removeBreak = sql<never>('drop trigger broken on verification_codes')

/** Calls at the same time; many more are in `races/agents-parallel.test.ts`. */
const CROWD = byLength({ short: 12, long: 40 })

let serial = 0
function fresh(): { username: string; human: string } {
  serial++
  return { username: `agent${serial}`, human: `human${serial}@people.test` }
}

describe('agents', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({ SIGN_UP_REFUSED_DOMAINS: 'example.com', VERIFIED_INBOX_LIMIT: '3' })
  })
  afterAll(() => gateway.stop())

  async function signUp(body: unknown) {
    const answer = await gateway.as().post('/v0/agent/sign-up', body)
    const key = String(answer.body['api_key'])
    return { ...answer, key, api: gateway.as(key), id: String(answer.body['organization_id']) }
  }

  function mailsTo(human: string): SystemMail[] {
    return gateway.behind.systemMails.filter(({ to }) => to === human)
  }

  /** The code of the latest mail, once it and its mark are there. */
  async function codeOf(human: string, mails = 1): Promise<string> {
    await waitFor(() => mailsTo(human).length >= mails, { what: `code mail ${mails} to ${human}` })
    await waitFor(async () => (await gateway.db.query(isMailed, human))[0]?.mailed, { what: 'the mark of the mail' })
    return /\b\d{6}\b/.exec(mailsTo(human).at(-1)?.text ?? '')?.[0] ?? ''
  }

  function wrongFor(code: string): string {
    return code === '000000' ? '000001' : '000000'
  }

  describe('POST /v0/agent/sign-up', () => {
    describe('200', () => {
      it('creates organization, default pod, inbox and key, and mails a code', async () => {
        const { username, human } = fresh()
        const { status, body, api, id } = await signUp({
          username: username.toUpperCase(),
          human_email: ` ${human.toUpperCase()} `,
        })
        expect(status).toBe(200)
        expect(body).toEqual({
          organization_id: id,
          inbox_id: `${username}@restante.test`,
          api_key: expect.any(String),
        })
        expect((await api.get('/v0/organizations')).body).toMatchObject({
          inbox_count: 1,
          inbox_limit: 1,
          domain_limit: 0,
          authentication_id: human,
          authentication_type: 'agent_unverified',
        })
        expect((await api.get('/v0/pods')).body).toMatchObject({ pods: [{ pod_id: id, name: 'Default Pod' }] })
        expect(await codeOf(human)).toMatch(/^\d{6}$/)
        expect((await gateway.events(id)).map(({ type }) => type)).toEqual([
          'organization.changed',
          'pod.changed',
          'inbox.changed',
          'credential.changed',
        ])
      })

      it('creates a plain inbox, and an unrestricted key of the organization that does not expire', async () => {
        const { api, id, key, body } = await signUp({ username: fresh().username })
        const inbox_id = body['inbox_id']
        const times = { created_at: expect.any(String), updated_at: expect.any(String) }
        expect((await api.get(`/v0/inboxes/${inbox_id}`)).body).toEqual({
          ...{ pod_id: id, inbox_id, email: inbox_id },
          ...times,
        })
        const { api_keys: keys } = (await api.get('/v0/api-keys')).body
        const bearer = { type: 'bearer', api_key_id: expect.any(String), prefix: key.slice(0, 14), name: 'My API Key' }
        expect(keys).toEqual([{ ...bearer, ...times }])
      })

      it('stores the self-description of the agent for the operator', async () => {
        const description = { source: 'some sdk', referrer: 'https://somewhere.test/list' }
        const { id } = await signUp({ username: fresh().username, ...description })
        const { row } = await gateway.operator.organization(id)
        expect({ source: row.signUpSource, referrer: row.signUpReferrer }).toEqual(description)
      })

      it('ignores an Authorization header', async () => {
        const { status } = await gateway
          .as()
          .post('/v0/agent/sign-up', { username: fresh().username }, { authorization: 'nonsense' })
        expect(status).toBe(200)
      })

      it('makes a new organization each time without a human', async () => {
        const one = await signUp({ username: fresh().username })
        const two = await signUp({ username: fresh().username })
        expect(one.id).not.toBe(two.id)
        expect((await one.api.get('/v0/organizations')).body).not.toHaveProperty('authentication_id')
      })

      it('rotates the key of a known human; the old one ends at once, the code stays valid', async () => {
        const { username, human } = fresh()
        const first = await signUp({ username, human_email: human })
        const code = await codeOf(human)
        const second = await signUp({ username: 'whatever', human_email: human })
        expect(second.body).toMatchObject({ organization_id: first.id, inbox_id: first.body['inbox_id'] })
        expect(second.key).not.toBe(first.key)
        expect((await first.api.get('/v0/auth/me')).body['code']).toBe('unknown_api_key')
        expect((await second.api.get('/v0/auth/me')).status).toBe(200)
        expect(mailsTo(human)).toHaveLength(1)
        expect((await second.api.post('/v0/agent/verify', { otp_code: code })).status).toBe(200)
      })

      it('replaces an expired code and mails the new one', async () => {
        const { username, human } = fresh()
        await signUp({ username, human_email: human })
        const old = await codeOf(human)
        await gateway.db.query(ageCode, human)
        await gateway.db.query(ageMails, human)
        await signUp({ username, human_email: human })
        expect(await codeOf(human, 2)).not.toBe(old)
      })

      it('mails at most once a minute and five times a day', async () => {
        const { username, human } = fresh()
        const { api } = await signUp({ username, human_email: human })
        for (let time = 0; time < 8; time++) {
          const again = async () => {
            await gateway.db.query(ageCode, human)
            expect((await api.post('/v0/agent/human', { human_email: human })).status).toBe(200)
          }
          if (time > 0) await again()
          if (time < 5) await codeOf(human, time + 1)
          await again()
          await gateway.db.query(ageMails, human)
        }
        expect((await signUp({ username, human_email: human })).status).toBe(200)
        expect(mailsTo(human)).toHaveLength(5)
      })

      it('gives a provisional key once mail has arrived; the old key works until the code is entered', async () => {
        const { username, human } = fresh()
        const first = await signUp({ username, human_email: human })
        gateway.behind.received.add(first.id)
        await codeOf(human)
        await gateway.db.query(ageMails, human)
        const second = await signUp({ username, human_email: human })
        expect(second.body).toMatchObject({ organization_id: first.id, inbox_id: first.body['inbox_id'] })
        expect((await second.api.get('/v0/auth/me')).status).toBe(200)
        const denied = await second.api.get('/v0/inboxes')
        expect(denied.body).toMatchObject({ code: 'missing_permission', fix: expect.stringContaining('verify') })
        expect((await second.api.post('/v0/agent/human', { human_email: human })).status).toBe(403)
        expect((await first.api.get('/v0/inboxes')).status).toBe(200)

        const verified = await second.api.post('/v0/agent/verify', { otp_code: await codeOf(human, 2) })
        expect(verified).toMatchObject({ status: 200, body: { verified: true } })
        expect((await second.api.get('/v0/inboxes')).status).toBe(200)
        expect((await first.api.get('/v0/auth/me')).status).toBe(401)
      })

      it('ends the provisional keys when the working one enters the code', async () => {
        const { username, human } = fresh()
        const first = await signUp({ username, human_email: human })
        gateway.behind.received.add(first.id)
        const waiting = await signUp({ username, human_email: human })
        expect((await first.api.post('/v0/agent/verify', { otp_code: await codeOf(human) })).status).toBe(200)
        expect((await waiting.api.get('/v0/auth/me')).status).toBe(401)
        expect((await first.api.get('/v0/inboxes')).status).toBe(200)
      })

      it('assumes mail while the mailbox service is down', async () => {
        const { username, human } = fresh()
        const first = await signUp({ username, human_email: human })
        gateway.behind.down = true
        try {
          const second = await signUp({ username, human_email: human })
          expect((await second.api.get('/v0/inboxes')).status).toBe(403)
          expect((await first.api.get('/v0/inboxes')).status).toBe(200)
        } finally {
          gateway.behind.down = false
        }
      })

      it('gives a provisional key for a verified organization, and a fresh code to its human', async () => {
        const { username, human } = fresh()
        const first = await signUp({ username, human_email: human })
        const code = await codeOf(human)
        await first.api.post('/v0/agent/verify', { otp_code: code })
        await first.api.post('/v0/inboxes', {})
        await gateway.db.query(ageMails, human)
        const second = await signUp({ username, human_email: human })
        expect(second.body).toMatchObject({ organization_id: first.id, inbox_id: first.body['inbox_id'] })
        expect((await second.api.get('/v0/inboxes')).status).toBe(403)
        expect((await first.api.post('/v0/api-keys')).status).toBe(200)
        const next = await codeOf(human, 2)
        expect((await second.api.post('/v0/agent/verify', { otp_code: next })).status).toBe(200)
        expect((await first.api.get('/v0/auth/me')).status).toBe(401)
      })

      it(`leaves one organization and one key of ${CROWD} parallel calls with one human`, async () => {
        const { username, human } = fresh()
        const answers = await Promise.all(Array.from({ length: CROWD }, () => signUp({ username, human_email: human })))
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
        expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
        const alive = await Promise.all(answers.map(({ api }) => api.get('/v0/auth/me')))
        expect(alive.filter(({ status }) => status === 200)).toHaveLength(1)
      })
    })

    describe('400', () => {
      it.each<[string, unknown, string[]]>([
        ['no username', {}, ['username']],
        ['an address as username', { username: 'a@b' }, ['username']],
        ['a human without a domain', { username: 'ok', human_email: 'nobody' }, ['human_email']],
        ['a human on a refused domain', { username: 'ok', human_email: 'x@example.com' }, ['human_email']],
        ['a human on a domain below it', { username: 'ok', human_email: 'x@mail.eu.EXAMPLE.com' }, ['human_email']],
        ['a human who is an inbox', { username: 'ok', human_email: 'someone@restante.test' }, ['human_email']],
        ['an overlong source', { username: 'ok', source: 'x'.repeat(2049) }, ['source']],
      ])('refuses %s', async (_case, body, path) => {
        const answer = await signUp(body)
        expect(answer.status).toBe(400)
        expect(answer.body).toMatchObject({ errors: [{ path }] })
      })
    })

    describe('403', () => {
      it('creates nothing for a username in use or reserved', async () => {
        const { username, human } = fresh()
        await signUp({ username })
        const [before] = await gateway.db.query(countAll)
        for (const taken of [username, 'postmaster']) {
          const { status, body } = await signUp({ username: taken, human_email: human })
          expect([status, body['code']]).toEqual([403, 'resource_taken'])
        }
        expect(await gateway.db.query(countAll)).toEqual([before])
      })

      it('refuses the human of an organization that the operator created', async () => {
        const { username, human } = fresh()
        const { id, api } = await gateway.organization()
        await gateway.db.orm.organization.update({ where: { id }, data: { humanEmail: human } })
        expect((await signUp({ username, human_email: human })).body['code']).toBe('already_exists')
        expect((await api.get('/v0/organizations')).body).not.toHaveProperty('authentication_id')
      })
    })

    it('leaves nothing when it fails at its last step', async () => {
      const { username, human } = fresh()
      const [before] = await gateway.db.query(countAll)
      await gateway.db.query(breakKeys)
      await gateway.db.query(installBreak)
      try {
        const { status, body } = await signUp({ username, human_email: human })
        expect([status, body['code'], body['message']]).toEqual([500, 'internal_error', 'Internal server error'])
      } finally {
        await gateway.db.query(removeBreak)
      }
      expect(await gateway.db.query(countAll)).toEqual([before])
      expect((await signUp({ username, human_email: human })).status).toBe(200)
    })

    it('mails the code once the sending service is back', async () => {
      const { username, human } = fresh()
      gateway.behind.down = true
      await signUp({ username, human_email: human })
      const begun = () => countRows(gateway.db, `timers where kind = 'code-mail' and attempt > 0`)
      await waitFor(async () => (await begun()) > 0, { what: 'a first attempt' })
      gateway.behind.down = false
      expect(await codeOf(human)).toMatch(/^\d{6}$/)
      expect(mailsTo(human)).toHaveLength(1)
    })

    it('gives up a code mail that the sending service rejects, without a retry', async () => {
      const { username, human } = fresh()
      gateway.behind.unmailable.add(human)
      await signUp({ username, human_email: human })
      await waitFor(() => mailsTo(human).length > 0, { what: 'the refusal' })
      const waiting = () => countRows(gateway.db, `timers where kind = 'code-mail'`)
      await waitFor(async () => (await waiting()) === 0, { what: 'the end of the timer' })
      expect(mailsTo(human)).toHaveLength(1)
      expect(await gateway.db.query(isMailed, human)).toEqual([{ mailed: false }])
    })
  })

  describe('POST /v0/agent/verify', () => {
    it('200: applies the installation’s limits, restores denied permissions, and keeps the key', async () => {
      const { username, human } = fresh()
      const { api } = await signUp({ username, human_email: human })
      expect((await api.post('/v0/api-keys')).body).toMatchObject({
        code: 'missing_permission',
        fix: expect.stringContaining('verified'),
      })
      expect((await api.post('/v0/inboxes')).body).toMatchObject({ code: 'limit_exceeded', limit: 1 })
      const verified = await api.post('/v0/agent/verify', { otp_code: ` ${await codeOf(human)} ` })
      expect(verified).toMatchObject({ status: 200, body: { verified: true } })
      expect((await api.post('/v0/api-keys', { permissions: { app_connect: true } })).status).toBe(200)
      expect((await api.get('/v0/organizations')).body).toMatchObject({
        authentication_type: 'agent_verified',
        inbox_limit: 3,
      })
    })

    it('tells services that send since when the human is verified', async () => {
      const { username, human } = fresh()
      const { api, id, body } = await signUp({ username, human_email: human })
      const told = async () => {
        gateway.behind.record()
        await api.post(`/v0/inboxes/${body['inbox_id']}/messages/send`, { to: [human] })
        const request = gateway.behind.seen.at(-1)
        if (request === undefined) throw new Error('nothing arrived')
        return (await callerOf(request, 'messages.send', CALLER_KEY)).verified_at
      }
      expect(await told()).toBeUndefined()
      await api.post('/v0/agent/verify', { otp_code: await codeOf(human) })
      const { verifiedAt } = await gateway.db.orm.organization.findUniqueOrThrow({ where: { id } })
      expect(await told()).toBe(verifiedAt?.toISOString() ?? 'never')
    })

    it.each(['12345', 'abcdef', 123456, ''])('400 for %j', async (code) => {
      const { api } = await signUp({ username: fresh().username })
      const { status, body } = await api.post('/v0/agent/verify', { otp_code: code })
      expect(status).toBe(400)
      expect(body).toMatchObject({ errors: [{ path: ['otp_code'] }] })
    })

    it('counts exactly ten of many concurrent wrong codes, then refuses even the right one', async () => {
      const { username, human } = fresh()
      const { api } = await signUp({ username, human_email: human })
      const code = await codeOf(human)
      const answers = await Promise.all(
        Array.from({ length: byLength({ short: 15, long: 30 }) }, () =>
          api.post('/v0/agent/verify', { otp_code: wrongFor(code) }),
        ),
      )
      const wrong = answers.filter(({ status }) => status === 400)
      expect(wrong).toHaveLength(10)
      expect(wrong.map(({ body }) => body['message'])).toContain('Wrong code; attempts remaining: 9')
      expect(await gateway.db.query(attempts, human)).toEqual([{ attempts: 10 }])
      const right = await api.post('/v0/agent/verify', { otp_code: code })
      expect([right.status, right.body['code']]).toEqual([403, 'limit_exceeded'])
    })

    it('401 for a key that is deleted while its code is checked', async () => {
      const { username, human } = fresh()
      const first = await signUp({ username, human_email: human })
      gateway.behind.received.add(first.id)
      const { key, api } = await signUp({ username, human_email: human })
      const otp_code = await codeOf(human)
      const { answer } = await gateway.db.transaction(async (tx) => {
        await tx.query(deleteKey, key.slice(0, 14))
        const verifying = api.post('/v0/agent/verify', { otp_code })
        await waitFor(async () => (await gateway.db.query(blocked)).length > 0, { what: 'the request to wait' })
        return { answer: verifying }
      })
      const { status, body } = await answer
      expect([status, body['code']]).toEqual([401, 'unknown_api_key'])
    })

    it.each([
      ['the operator', (id: string, human: string) => gateway.operator.setHuman(id, human)],
      ['the agent', (_id: string, human_email: string, api: Api) => api.post('/v0/agent/human', { human_email })],
    ])('accepts no code of a human whom %s has replaced since', async (who, replace) => {
      const { username, human } = fresh()
      const first = await signUp({ username, human_email: human })
      const code = await codeOf(human)
      if (who === 'the operator') await first.api.post('/v0/agent/verify', { otp_code: code })
      gateway.behind.received.add(first.id)
      await gateway.db.query(ageMails, human)
      const waiting = await signUp({ username, human_email: human })
      const old = await codeOf(human, 2)
      const successor = fresh().human
      await replace(first.id, successor, first.api)
      expect((await waiting.api.post('/v0/agent/verify', { otp_code: old })).body['code']).toBe('unknown_api_key')
      expect((await first.api.get('/v0/auth/me')).status).toBe(200)

      const mails = who === 'the agent' ? 1 : 0
      if (mails > 0) await codeOf(successor)
      await gateway.db.query(ageMails, successor)
      const next = await signUp({ username, human_email: successor })
      const lastCode = await codeOf(successor, mails + 1)
      expect((await next.api.post('/v0/agent/verify', { otp_code: lastCode })).status).toBe(200)
    })

    it('422 without a human, and for a code that has expired', async () => {
      const alone = await signUp({ username: fresh().username })
      expect((await alone.api.post('/v0/agent/verify', { otp_code: '123456' })).status).toBe(422)
      const { username, human } = fresh()
      const { api } = await signUp({ username, human_email: human })
      const code = await codeOf(human)
      await gateway.db.query(ageCode, human)
      expect((await api.post('/v0/agent/verify', { otp_code: code })).status).toBe(422)
    })

    it('403 once verified, and for an organization that never signed up', async () => {
      const { username, human } = fresh()
      const { api } = await signUp({ username, human_email: human })
      await api.post('/v0/agent/verify', { otp_code: await codeOf(human) })
      const ordinary = await gateway.organization()
      for (const key of [api, ordinary.api]) {
        const { status, body } = await key.post('/v0/agent/verify', { otp_code: '123456' })
        expect(status).toBe(403)
        expect(body).toMatchObject({ code: 'missing_permission', fix: expect.stringContaining("'agent_verify'") })
      }
    })
  })

  describe('POST /v0/agent/human', () => {
    it('200: attaches the first human and mails a code that verifies', async () => {
      const { username, human } = fresh()
      const { api } = await signUp({ username })
      const { status, body } = await api.post('/v0/agent/human', { human_email: human.toUpperCase() })
      expect(status).toBe(200)
      expect(body).toEqual({ human_email: human, instructions: expect.stringContaining('code') })
      expect((await api.post('/v0/agent/verify', { otp_code: await codeOf(human) })).status).toBe(200)
    })

    it('mails the same human again only when the last mail was not sent, or bounced', async () => {
      const { username, human } = fresh()
      const { api } = await signUp({ username, human_email: human })
      const again = async () => {
        await gateway.db.query(ageMails, human)
        expect((await api.post('/v0/agent/human', { human_email: human })).status).toBe(200)
      }
      const code = await codeOf(human)
      await again()
      expect(mailsTo(human)).toHaveLength(1)
      await gateway.db.query(unmail, human)
      await again()
      expect(await codeOf(human, 2)).toBe(code)
      gateway.behind.returning.add(human)
      await again()
      expect(await codeOf(human, 3)).toBe(code)
      await api.post('/v0/agent/human', { human_email: human })
      gateway.behind.returning.delete(human)
      await again()
      gateway.behind.returning.add(human)
      gateway.behind.down = true
      await again().finally(() => {
        gateway.behind.down = false
      })
      const { id: key } = await gateway.db.orm.verificationCode.findFirstOrThrow({ where: { humanEmail: human } })
      expect(await countRows(gateway.db, `timers where kind = 'code-mail' and key = $1`, key)).toBe(0)
      expect(mailsTo(human)).toHaveLength(3)
    })

    it.each(['sign-up', 'a request'])(
      'replaces a human of %s twice; the old code is dead, no third follows',
      async (of) => {
        const first = fresh()
        const named = of === 'sign-up' ? { human_email: first.human } : {}
        const { api } = await signUp({ username: first.username, ...named })
        await api.post('/v0/agent/human', { human_email: first.human })
        const old = await codeOf(first.human)
        const [second, third, fourth] = [fresh().human, fresh().human, fresh().human]
        expect((await api.post('/v0/agent/human', { human_email: second })).status).toBe(200)
        const code = await codeOf(second)
        if (code !== old) expect((await api.post('/v0/agent/verify', { otp_code: old })).status).toBe(400)
        expect((await api.post('/v0/agent/human', { human_email: third })).status).toBe(200)
        const { status, body } = await api.post('/v0/agent/human', { human_email: fourth })
        expect([status, body['code']]).toEqual([403, 'limit_exceeded'])
        expect((await api.post('/v0/agent/human', { human_email: third })).status).toBe(200)
      },
    )

    it('refuses a human who has an organization, and a refused domain', async () => {
      const owner = fresh()
      await signUp({ username: owner.username, human_email: owner.human })
      const { api } = await signUp({ username: fresh().username })
      expect((await api.post('/v0/agent/human', { human_email: owner.human })).body['code']).toBe('already_exists')
      expect((await api.post('/v0/agent/human', { human_email: 'x@example.com' })).status).toBe(400)
    })
  })

  describe('until the code is entered', () => {
    it.each(['organization', 'pod', 'inbox'])('denies keys of the %s what it denies the first one', async (tier) => {
      const { id: organizationId, body } = await signUp({ username: fresh().username })
      const binding = { pod: { pod: organizationId }, inbox: { inbox: String(body['inbox_id']) } }[tier]
      const { secret } = await gateway.operator.createKey({ organizationId, ...binding })
      const api = gateway.as(secret)
      const pod = `/v0/pods/${organizationId}`
      const denied = [
        await api.post('/v0/api-keys', {}),
        ...(tier === 'organization' ? [await api.post('/v0/pods', {})] : []),
        ...(tier === 'inbox' ? [] : [await api.patch(pod, { name: 'Other' }), await api.delete(pod)]),
      ]
      for (const { status, body } of denied) {
        expect(status).toBe(403)
        expect(body).toMatchObject({ code: 'missing_permission', fix: expect.stringContaining('until') })
      }
      expect((await api.get('/v0/inboxes')).status).toBe(200)
    })
  })

  describe('with other settings', () => {
    it('404 when sign-up is switched off; 403 for a verified human when configured', async () => {
      const off = await gateway.another({ SIGN_UP: 'false' })
      for (const body of [{ username: fresh().username }, { username: '..' }]) {
        const closed = await off.as().post('/v0/agent/sign-up', body)
        expect([closed.status, closed.body['message']]).toEqual([404, 'Route not found'])
      }
      const strict = await gateway.another({ SIGN_UP_VERIFIED_HUMAN: 'refuse' })
      const { username, human } = fresh()
      const { api } = await signUp({ username, human_email: human })
      await api.post('/v0/agent/verify', { otp_code: await codeOf(human) })
      const again = await strict.as().post('/v0/agent/sign-up', { username, human_email: human })
      expect([again.status, again.body['code']]).toEqual([403, 'already_exists'])
    })
  })
})
