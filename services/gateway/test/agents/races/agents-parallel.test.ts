import { Schedule } from '@restante/jobs'
import { sql } from '@restante/service/database'
import { byLength, waitFor } from '@restante/testkit'
import { forgetCode, lockOwnCode } from '../../../src/agents/codes.ts'
import type { GatewayTimerKinds } from '../../../src/storage/timers.ts'
import { type Answer, type Api, startGateway, type TestGateway } from '../../gateway.ts'

const attempts = sql<{ attempts: number }, [human: string]>(
  'select attempts from verification_codes where human_email = $1',
)
const liveKeys = sql<{ provisional: boolean }, [organizationId: string]>(
  'select provisional from credentials where organization_id = $1',
)
const organizationsOf = sql<{ id: string }, [human: string]>('select id from organizations where human_email = $1')
const blocked = sql<{ pid: number }>(
  "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
)
const hold = sql<never, [id: string]>('select id from organizations where id = $1 for update')
const giveAway = sql<never, [id: string, human: string]>('update organizations set human_email = $2 where id = $1')

const makeDue = sql<never>("update timers set due_at = now() where kind = 'code-mail' and lease_id is null")
const timersOf = sql<{ id: string }, [codeId: string]>("select id from timers where kind = 'code-mail' and key = $1")
const noPatience = sql<never>("set local lock_timeout = '500ms'")

/** Many concurrent requests, on as many connections as they need: more than the 50 provisional keys of one human. */
const CROWD = byLength({ short: 56, long: 200 })
/** Wrong codes around a right one: more than the ten that are counted. */
const WRONG = byLength({ short: 24, long: 60 })

describe('concurrent sign-ups', () => {
  let gateway: TestGateway
  /** Two processes of one installation. */
  let doors: readonly ((key?: string) => Api)[]

  beforeAll(async () => {
    gateway = await startGateway()
    doors = [gateway.as, (await gateway.another()).as]
  })
  afterAll(() => gateway.stop())

  let serial = 0
  function fresh(): { username: string; human: string } {
    serial++
    return { username: `crowd${serial}`, human: `crowd${serial}@people.test` }
  }

  const door = (number: number): ((key?: string) => Api) => doors[number % doors.length] ?? gateway.as
  const statuses = (answers: readonly Answer[]) => {
    const counts: Record<number, number> = {}
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
    return counts
  }

  async function crowd(work: (number: number) => Promise<Answer>, size = CROWD): Promise<Answer[]> {
    return Promise.all(Array.from({ length: size }, (_, number) => work(number)))
  }

  /** Sign-ups with one human through both processes. */
  function signUps(username: string, human: string): Promise<Answer[]> {
    return crowd((number) => door(number)().post('/v0/agent/sign-up', { username, human_email: human }))
  }

  async function standing(keys: readonly unknown[]) {
    return Promise.all(keys.map((key) => gateway.as(String(key)).get('/v0/auth/me')))
  }

  async function codeOf(human: string): Promise<string> {
    const mail = () => gateway.behind.systemMails.findLast(({ to }) => to === human)
    await waitFor(() => mail() !== undefined, { what: `the code mail to ${human}` })
    return /\b\d{6}\b/.exec(mail()?.text ?? '')?.[0] ?? ''
  }

  const wrongFor = (code: string) => (code === '000000' ? '000001' : '000000')

  it(`leave one organization and one key after ${CROWD} sign-ups with one human, all of which succeed`, async () => {
    const { username, human } = fresh()
    const answers = await signUps(username, human)
    expect(statuses(answers)).toEqual({ 200: CROWD })
    expect(new Set(answers.map(({ body }) => `${body['organization_id']} ${body['inbox_id']}`)).size).toBe(1)
    const id = String(answers[0]?.body['organization_id'])
    expect(await gateway.db.query(organizationsOf, human)).toEqual([{ id }])
    expect(await gateway.db.query(liveKeys, id)).toEqual([{ provisional: false }])
    const keys = answers.map(({ body }) => body['api_key'])
    expect(new Set(keys).size).toBe(CROWD)
    expect(statuses(await standing(keys))).toEqual({ 200: 1, 401: CROWD - 1 })
    expect((await gateway.as().post('/v0/agent/sign-up', { username })).body['code']).toBe('resource_taken')
    expect(gateway.behind.systemMails.filter(({ to }) => to === human)).toHaveLength(1)
  })

  it(`leave the working key and 50 provisional ones after ${CROWD} sign-ups once mail has arrived`, async () => {
    const { username, human } = fresh()
    const first = await gateway.as().post('/v0/agent/sign-up', { username, human_email: human })
    const id = String(first.body['organization_id'])
    gateway.behind.received.add(id)
    const answers = await signUps(username, human)
    expect(statuses(answers)).toEqual({ 200: CROWD })
    const keys = answers.map(({ body }) => body['api_key'])
    expect(statuses(await standing(keys))).toEqual({ 200: 50, 401: CROWD - 50 })
    const reading = await Promise.all(keys.map((key) => gateway.as(String(key)).get('/v0/inboxes')))
    expect(statuses(reading)).toEqual({ 403: 50, 401: CROWD - 50 })
    expect((await gateway.as(String(first.body['api_key'])).get('/v0/inboxes')).status).toBe(200)
    const rows = await gateway.db.query(liveKeys, id)
    expect(rows.filter(({ provisional }) => provisional)).toHaveLength(50)
    expect(rows).toHaveLength(51)
  })

  it(`counts exactly ten of ${CROWD} wrong codes and refuses the others`, async () => {
    const { username, human } = fresh()
    const { body } = await gateway.as().post('/v0/agent/sign-up', { username, human_email: human })
    const key = String(body['api_key'])
    const code = await codeOf(human)
    const answers = await crowd((number) => door(number)(key).post('/v0/agent/verify', { otp_code: wrongFor(code) }))
    expect(statuses(answers)).toEqual({ 400: 10, 403: CROWD - 10 })
    expect(await gateway.db.query(attempts, human)).toEqual([{ attempts: 10 }])
    const remaining = answers.filter(({ status }) => status === 400).map(({ body: refusal }) => refusal['message'])
    expect(remaining.sort()).toEqual(
      Array.from({ length: 10 }, (_, left) => `Wrong code; attempts remaining: ${left}`).sort(),
    )
    const refused = answers.filter(({ status }) => status === 403).map(({ body: refusal }) => refusal['code'])
    expect(new Set(refused)).toEqual(new Set(['limit_exceeded']))
    expect((await gateway.as(key).post('/v0/agent/verify', { otp_code: code })).body['code']).toBe('limit_exceeded')
  })

  it.each([0, 5, 15, WRONG])(
    `admits a right code among ${WRONG} wrong ones, or none, when it is sent as number %i`,
    async (turn) => {
      const { username, human } = fresh()
      const { body } = await gateway.as().post('/v0/agent/sign-up', { username, human_email: human })
      const key = String(body['api_key'])
      const code = await codeOf(human)
      const answers = await crowd((number) => {
        const otp_code = number === turn ? code : wrongFor(code)
        return door(number)(key).post('/v0/agent/verify', { otp_code })
      }, WRONG + 1)
      const counts = statuses(answers)
      const admitted = answers[turn]?.status === 200
      const wrong = counts[400] ?? 0
      // Before the right code at most nine wrong ones were counted; after it there was nothing left to verify.
      expect(counts).toEqual({
        ...(admitted ? { 200: 1 } : {}),
        ...(wrong === 0 ? {} : { 400: wrong }),
        403: WRONG + 1 - wrong - (admitted ? 1 : 0),
      })
      expect(wrong).toBeLessThan(admitted ? 10 : 11)
      if (!admitted) expect(wrong).toBe(10)
      const { body: record } = await gateway.as(key).get('/v0/organizations')
      expect(record['authentication_type']).toBe(admitted ? 'agent_verified' : 'agent_unverified')
    },
  )

  it('makes an organization of its own for a human who is replaced while the sign-up waits', async () => {
    const { username, human } = fresh()
    const first = await gateway.as().post('/v0/agent/sign-up', { username, human_email: human })
    const id = String(first.body['organization_id'])
    const answer = await gateway.db.transaction(async (tx) => {
      await tx.query(hold, id)
      const signingUp = gateway.as().post('/v0/agent/sign-up', { username: fresh().username, human_email: human })
      await waitFor(async () => (await gateway.db.query(blocked)).length > 0, { what: 'the sign-up to wait' })
      await tx.query(giveAway, id, `other-${human}`)
      return { signingUp }
    })
    const { status, body } = await answer.signingUp
    expect(status).toBe(200)
    expect(body['organization_id']).not.toBe(id)
    expect((await gateway.as(String(first.body['api_key'])).get('/v0/auth/me')).status).toBe(200)
  })

  it('end a code while its mail is being recorded, without a deadlock', async () => {
    const { username, human } = fresh()
    gateway.behind.down = true
    const { body } = await gateway.as().post('/v0/agent/sign-up', { username, human_email: human })
    const ended = await gateway.db.transaction(async (tx) => {
      const code = await lockOwnCode(tx, String(body['organization_id']))
      if (code === undefined) throw new Error('no code')
      gateway.behind.down = false
      await gateway.db.query(makeDue)
      await waitFor(async () => (await gateway.db.query(blocked)).length > 0, { what: 'the mail to be concluded' })
      await tx.query(noPatience)
      await forgetCode(tx, new Schedule<GatewayTimerKinds>(), code)
      return code
    })
    const left = () => gateway.db.query(timersOf, ended.id)
    await waitFor(async () => (await left()).length === 0, { what: 'the end of the timer' })
    expect(gateway.behind.systemMails.filter(({ to }) => to === human)).toHaveLength(1)
  })
})
