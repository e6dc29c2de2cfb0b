import { sql } from '@restante/service/database'
import { byLength, waitFor } from '@restante/testkit'
import { startGateway, type TestGateway } from '../../gateway.ts'
import { newKey } from '../../signatures/signing.ts'

/** Where webhooks and streams of earlier keys are ended. */
const OWNERS = ['webhooks', 'streams']
const ageMails = sql<never, [human: string]>(
  "update code_mails set created_at = created_at - interval '61 s' where human_email = $1",
)
const keysOf = sql<{ provisional: boolean }, [organizationId: string]>(
  'select provisional from credentials where organization_id = $1',
)
const takeOversOf = sql<{ take_overs: number }, [id: string]>('select take_overs from organizations where id = $1')
const hold = sql<never, [id: string]>('select id from organizations where id = $1 for update')
const supersede = sql<never, [id: string]>('update organizations set take_overs = take_overs + 1 where id = $1')
const blocked = sql<{ pid: number }>(
  "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
)
const failOnEvent = sql<never>(`
create or replace function fail() returns trigger language plpgsql as $$ begin raise exception 'broken for a test'; end $$`)
const installFailure = sql<never>(`
create trigger broken before insert on outbox for each row when (new.type = 'organization.taken_over') execute function fail()`)
const removeFailure = sql<never>('drop trigger broken on outbox')

/** Sign-ups with one human at the same time. */
const CROWD = byLength({ short: 8, long: 20 })

let serial = 0
function fresh(): { username: string; human_email: string } {
  serial++
  return { username: `heir${serial}`, human_email: `heir${serial}@people.test` }
}

describe('taking an organization over', () => {
  let gateway: TestGateway
  let second: Awaited<ReturnType<TestGateway['another']>>

  beforeAll(async () => {
    gateway = await startGateway()
    second = await gateway.another()
  })
  afterAll(() => gateway.stop())

  async function signUp(body: { username: string; human_email: string }, via = gateway.as()) {
    const answer = await via.post('/v0/agent/sign-up', body)
    const key = String(answer.body['api_key'])
    const inbox = `/v0/inboxes/${answer.body['inbox_id']}`
    return { ...answer, key, inbox, api: gateway.as(key), id: String(answer.body['organization_id']) }
  }

  /** The code of the newest mail to a human. */
  async function codeOf(human: string, mails = 1): Promise<string> {
    const sent = () => gateway.behind.systemMails.filter(({ to }) => to === human)
    await waitFor(() => sent().length >= mails, { what: `code mail ${mails} to ${human}` })
    return /\b\d{6}\b/.exec(sent().at(-1)?.text ?? '')?.[0] ?? ''
  }

  /** A third party signs up in a human's name and changes settings. */
  async function stranger(body: { username: string; human_email: string }) {
    const first = await signUp(body)
    await codeOf(body.human_email)
    const { secret: further } = await gateway.operator.createKey({ organizationId: first.id })
    const settings = { display_name: 'Your Bank', status: 'paused', metadata: { owner: 'stranger', note: 'mine' } }
    expect((await first.api.patch(first.inbox, settings)).status).toBe(200)
    return { ...first, further }
  }

  async function takenOverEvents(id: string) {
    const events = await gateway.events(id)
    return events.filter(({ type }) => type === 'organization.taken_over').map(({ payload }) => payload)
  }

  describe('by signing up, before mail has arrived', () => {
    it('ends every earlier key in every process, resumes the inbox and ends webhooks and streams before the answer', async () => {
      const body = fresh()
      const before = await stranger(body)
      const dead = [before.key, before.further]
      // The other process has both keys cached when the organization is taken over.
      for (const key of dead) expect((await second.as(key).get('/v0/auth/me')).status).toBe(200)
      const heir = await signUp(body)
      expect(heir.status).toBe(200)
      for (const ended of [gateway.behind.ended, gateway.behind.endedStreams]) {
        expect(ended.filter(({ organization_id }) => organization_id === heir.id).at(-1)).toEqual({
          organization_id: heir.id,
          take_overs: 1,
        })
      }
      for (const key of dead) {
        expect((await second.as(key).get(before.inbox)).body['code']).toBe('unknown_api_key')
        expect((await gateway.as(key).get(before.inbox)).body['code']).toBe('unknown_api_key')
      }
      expect(await gateway.db.query(keysOf, heir.id)).toHaveLength(1)
      expect((await heir.api.get(heir.inbox)).body).not.toHaveProperty('status')
    })

    it('removes name and metadata when the human confirms, but nothing that the new key has set since', async () => {
      const body = fresh()
      await stranger(body)
      const heir = await signUp(body)
      await heir.api.patch(heir.inbox, { metadata: { note: 'mine', mine: true } })
      expect((await heir.api.get(heir.inbox)).body).toMatchObject({ display_name: 'Your Bank' })
      expect((await heir.api.post('/v0/agent/verify', { otp_code: await codeOf(body.human_email) })).status).toBe(200)
      const { body: inbox } = await heir.api.get(heir.inbox)
      expect(inbox).not.toHaveProperty('display_name')
      expect(inbox['metadata']).toEqual({ note: 'mine', mine: true })
    })

    it('keeps a name that the new key has set to the same text', async () => {
      const body = fresh()
      await stranger(body)
      const heir = await signUp(body)
      expect((await heir.api.patch(heir.inbox, { display_name: 'Your Bank' })).status).toBe(200)
      await heir.api.post('/v0/agent/verify', { otp_code: await codeOf(body.human_email) })
      expect((await heir.api.get(heir.inbox)).body).toMatchObject({ display_name: 'Your Bank' })
    })

    it('leaves no metadata key on an inbox that is deleted before the human confirms', async () => {
      const body = fresh()
      await stranger(body)
      const heir = await signUp(body)
      gateway.behind.purging.add('/internal/purge-inbox/mail-ingest')
      try {
        expect((await heir.api.delete(heir.inbox)).status).toBe(204)
        const row = await gateway.db.orm.inbox.findFirstOrThrow({ where: { organizationId: heir.id } })
        expect(row).toMatchObject({ inherited: [], metadata: {}, displayName: null })
      } finally {
        gateway.behind.purging.clear()
      }
    })

    it('publishes both events, with the remaining key and the time of the take-over', async () => {
      const body = fresh()
      await signUp(body)
      const heir = await signUp(body)
      const { body: me } = await heir.api.get('/v0/auth/me')
      await heir.api.post('/v0/agent/verify', { otp_code: await codeOf(body.human_email) })
      const [first, last, ...more] = await takenOverEvents(heir.id)
      expect(more).toEqual([])
      const common = { organization_id: heir.id, credential_id: me['api_key_id'], take_overs: 1 }
      expect(first).toMatchObject({ ...common, verified: false })
      expect(last).toMatchObject({ ...common, verified: true, at: first?.['at'] })
    })

    it('publishes no take-over when the first key itself is verified', async () => {
      const body = fresh()
      const only = await signUp(body)
      await only.api.patch(only.inbox, { display_name: 'Desk' })
      await only.api.post('/v0/agent/verify', { otp_code: await codeOf(body.human_email) })
      expect(await takenOverEvents(only.id)).toEqual([])
      expect((await only.api.get(only.inbox)).body).toMatchObject({ display_name: 'Desk' })
    })

    it.each(OWNERS)('503 with nothing changed while the owner of %s is down', async (what) => {
      const body = fresh()
      const before = await stranger(body)
      gateway.behind.refusing.add(`/internal/${what}/end`)
      try {
        expect((await signUp(body)).status).toBe(503)
      } finally {
        gateway.behind.refusing.clear()
      }
      expect((await before.api.get(before.inbox)).body).toMatchObject({ status: 'paused' })
      expect(await gateway.db.query(takeOversOf, before.id)).toEqual([{ take_overs: 0 }])
      expect((await signUp(body)).status).toBe(200)
    })

    it('changes nothing when it fails at its last step', async () => {
      const body = fresh()
      const before = await stranger(body)
      await gateway.db.query(failOnEvent)
      await gateway.db.query(installFailure)
      try {
        expect((await signUp(body)).status).toBe(500)
      } finally {
        await gateway.db.query(removeFailure)
      }
      expect((await before.api.get(before.inbox)).body).toMatchObject({ status: 'paused' })
      expect((await gateway.as(before.further).get('/v0/auth/me')).status).toBe(200)
    })

    it('leaves one key of many sign-ups through two processes, and ends webhooks for the last of them', async () => {
      const body = fresh()
      const doors = [gateway.as(), second.as()]
      const answers = await Promise.all(Array.from({ length: CROWD }, (_, number) => signUp(body, doors[number % 2])))
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: CROWD }, () => 200))
      const id = answers[0]?.id ?? ''
      expect(await gateway.db.query(keysOf, id)).toEqual([{ provisional: false }])
      expect(await gateway.db.query(takeOversOf, id)).toEqual([{ take_overs: CROWD - 1 }])
      const numbers = gateway.behind.ended.filter(({ organization_id }) => organization_id === id)
      expect(Math.max(...numbers.map(({ take_overs }) => take_overs))).toBe(CROWD - 1)
    })
  })

  describe('a request of an earlier key that was admitted before the take-over', () => {
    it.each<[string, (api: ReturnType<TestGateway['as']>, inbox: string) => Promise<{ status: number }>]>([
      ['a change of the inbox', (api, inbox) => api.patch(inbox, { display_name: 'Back again' })],
      ['a deletion of the inbox', (api, inbox) => api.delete(inbox)],
    ])('401 for %s, without effect', async (_what, request) => {
      const body = fresh()
      const before = await signUp(body)
      const { answer } = await gateway.db.transaction(async (tx) => {
        await tx.query(hold, before.id)
        const waiting = request(before.api, before.inbox)
        await waitFor(async () => (await gateway.db.query(blocked)).length > 0, { what: 'the request to wait' })
        await tx.query(supersede, before.id)
        return { answer: waiting }
      })
      expect((await answer).status).toBe(401)
      const row = await gateway.db.orm.inbox.findFirstOrThrow({ where: { organizationId: before.id } })
      expect(row).toMatchObject({ displayName: null, deletedAt: null })
    })
  })

  describe('by a code, once mail has arrived', () => {
    async function provisional(body: { username: string; human_email: string }) {
      const before = await stranger(body)
      gateway.behind.received.add(before.id)
      await gateway.db.query(ageMails, body.human_email)
      const heir = await signUp(body)
      return { before, heir, otp_code: await codeOf(body.human_email, 2) }
    }

    it('ends nothing at the sign-up, and everything with the right code', async () => {
      const body = fresh()
      const { before, heir, otp_code } = await provisional(body)
      expect((await before.api.get(before.inbox)).body).toMatchObject({ status: 'paused' })
      expect(await takenOverEvents(heir.id)).toEqual([])
      expect((await heir.api.post('/v0/agent/verify', { otp_code })).body).toEqual({ verified: true })
      for (const key of [before.key, before.further]) {
        expect((await gateway.as(key).get('/v0/auth/me')).body['code']).toBe('unknown_api_key')
      }
      const { body: inbox } = await heir.api.get(heir.inbox)
      for (const member of ['display_name', 'metadata', 'status']) expect(inbox).not.toHaveProperty(member)
      expect(await takenOverEvents(heir.id)).toMatchObject([{ verified: true, take_overs: 1 }])
      expect(gateway.behind.ended.at(-1)).toEqual({ organization_id: heir.id, take_overs: 1 })
    })

    it.each(OWNERS)(
      '503 with nothing changed while the owner of %s is down; the same code works then',
      async (what) => {
        const body = fresh()
        const { before, heir, otp_code } = await provisional(body)
        gateway.behind.refusing.add(`/internal/${what}/end`)
        try {
          expect((await heir.api.post('/v0/agent/verify', { otp_code })).status).toBe(503)
        } finally {
          gateway.behind.refusing.clear()
        }
        expect((await before.api.get('/v0/auth/me')).status).toBe(200)
        expect((await heir.api.post('/v0/agent/verify', { otp_code })).status).toBe(200)
      },
    )

    it('ends the keys of the earlier sign-up, and nothing else, where the human had confirmed the organization', async () => {
      const body = fresh()
      const first = await signUp(body)
      await first.api.post('/v0/agent/verify', { otp_code: await codeOf(body.human_email) })
      await first.api.patch(first.inbox, { display_name: 'Desk' })
      const { body: child } = await first.api.post('/v0/api-keys', {})
      const made = gateway.as(String(child['api_key']))
      const { body: grandchild } = await made.post('/v0/api-keys', {})
      const { body: registered } = await made.post('/v0/api-keys', { public_key: newKey().jwk })
      expect(registered['api_key_id']).toEqual(expect.any(String))
      // What is between two keys may be gone: the one that is left must not be forgotten.
      expect((await first.api.delete(`/v0/api-keys/${child['api_key_id']}`)).status).toBe(204)
      const { secret } = await gateway.operator.createKey({ organizationId: first.id })
      await gateway.db.query(ageMails, body.human_email)
      const heir = await signUp(body)
      const otp_code = await codeOf(body.human_email, 2)
      expect((await heir.api.post('/v0/agent/verify', { otp_code })).status).toBe(200)
      expect((await first.api.get('/v0/auth/me')).status).toBe(401)
      expect((await gateway.as(String(grandchild['api_key'])).get('/v0/auth/me')).status).toBe(401)
      expect((await heir.api.get(`/v0/api-keys/${registered['api_key_id']}`)).status).toBe(404)
      expect((await gateway.as(secret).get('/v0/auth/me')).status).toBe(200)
      expect((await heir.api.get(heir.inbox)).body).toMatchObject({ display_name: 'Desk' })
      expect(await takenOverEvents(heir.id)).toEqual([])
    })
  })
})
