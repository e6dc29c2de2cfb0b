import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { type Api, startGateway, type TestGateway } from '../gateway.ts'

const ageMails = sql<never, [mailbox: string]>(
  "update code_mails set created_at = created_at - interval '61 s' where human_email = $1",
)
const ageCodes = sql<never, [human: string]>(
  "update verification_codes set expires_at = now() - interval '1 s' where human_email = $1",
)
const liveKeys = sql<{ waiting: number }, [organizationId: string]>(
  'select count(*)::int as waiting from credentials where organization_id = $1 and provisional',
)

let serial = 0
function fresh(): { username: string; human: string } {
  serial++
  return { username: `waits${serial}`, human: `waits${serial}@people.test` }
}

describe('provisional keys', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  async function signUp({ username, human }: { username: string; human: string }) {
    const answer = await gateway.as().post('/v0/agent/sign-up', { username, human_email: human })
    expect(answer.status).toBe(200)
    return { api: gateway.as(String(answer.body['api_key'])), id: String(answer.body['organization_id']) }
  }

  const mailsTo = (human: string) => gateway.behind.systemMails.filter(({ to }) => to === human)

  async function codeOf(human: string, mails: number): Promise<string> {
    await waitFor(() => mailsTo(human).length >= mails, { what: `code mail ${mails} to ${human}` })
    return /\b\d{6}\b/.exec(mailsTo(human)[mails - 1]?.text ?? '')?.[0] ?? ''
  }

  const enter = (api: Api, otp_code: string) => api.post('/v0/agent/verify', { otp_code })
  const wrongFor = (...codes: string[]) =>
    ['000000', '000001', '000002'].find((code) => !codes.includes(code)) ?? '000003'

  /** An unverified organization that has received mail, with its own code. */
  async function working(person = fresh()) {
    const first = await signUp(person)
    gateway.behind.received.add(first.id)
    return { ...first, ...person, own: await codeOf(person.human, 1) }
  }

  async function waiting(person: { username: string; human: string }, mails: number) {
    await gateway.db.query(ageMails, person.human)
    const key = await signUp(person)
    return { ...key, code: await codeOf(person.human, mails) }
  }

  it('may call auth.me and verify, and nothing else', async () => {
    const owner = await working()
    const { api } = await waiting(owner, 2)
    expect((await api.get('/v0/auth/me')).status).toBe(200)
    for (const path of ['/v0/inboxes', '/v0/organizations', '/v0/api-keys', '/v0/webhooks', '/v0/threads']) {
      expect((await api.get(path)).body['code']).toBe('missing_permission')
    }
  })

  it("end after three wrong codes, which do not count against the organization's code", async () => {
    const owner = await working()
    const guesser = await waiting(owner, 2)
    const wrong = wrongFor(guesser.code, owner.own)
    const answers = [await enter(guesser.api, wrong), await enter(guesser.api, wrong), await enter(guesser.api, wrong)]
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400])
    expect(answers.map(({ body }) => String(body['message']))).toEqual([
      'Wrong code; attempts remaining: 2',
      'Wrong code; attempts remaining: 1',
      expect.stringContaining('attempts remaining: 0'),
    ])
    expect((await enter(guesser.api, guesser.code)).body['code']).toBe('unknown_api_key')
    expect((await enter(owner.api, wrong)).body['message']).toBe('Wrong code; attempts remaining: 9')
    expect((await enter(owner.api, owner.own)).status).toBe(200)
  })

  it('get exactly three attempts of many concurrent ones', async () => {
    const owner = await working()
    const guesser = await waiting(owner, 2)
    const wrong = wrongFor(guesser.code)
    const answers = await Promise.all(Array.from({ length: 20 }, () => enter(guesser.api, wrong)))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(17)
  })

  it('take neither the code of the organization nor that of another waiting key', async () => {
    const owner = await working()
    const one = await waiting(owner, 2)
    const other = await waiting(owner, 3)
    const foreign = [owner.own, other.code].filter((code) => code !== one.code)
    for (const code of foreign) expect((await enter(one.api, code)).status).toBe(400)
    expect((await enter(other.api, other.code)).status).toBe(200)
  })

  it('422 without a mailed code: three are mailed a day, two are left to the organization', async () => {
    const owner = await working()
    for (const mails of [2, 3, 4]) await waiting(owner, mails)
    await gateway.db.query(ageMails, owner.human)
    const fourth = await signUp(owner)
    expect((await enter(fourth.api, '123456')).body).toMatchObject({ code: 'unprocessable' })
    expect((await fourth.api.get('/v0/auth/me')).status).toBe(200)
    await gateway.db.query(ageCodes, owner.human)
    expect((await owner.api.post('/v0/agent/human', { human_email: owner.human })).status).toBe(200)
    expect((await enter(owner.api, await codeOf(owner.human, 5))).status).toBe(200)
  })

  it('422 when one was signed up within a minute of another mail to the human', async () => {
    const owner = await working()
    const { api } = await signUp(owner)
    expect((await enter(api, owner.own)).status).toBe(422)
    expect(mailsTo(owner.human)).toHaveLength(1)
  })

  it('are limited to 50, and one whose code was mailed is not displaced by third parties', async () => {
    const owner = await working()
    const expected = await waiting(owner, 2)
    for (let sign = 0; sign < 55; sign++) await signUp(owner)
    expect(await gateway.db.query(liveKeys, owner.id)).toEqual([{ waiting: 50 }])
    expect((await enter(expected.api, expected.code)).status).toBe(200)
  })

  it('lead to a mail that explains what the code gives access to', async () => {
    const owner = await working()
    await waiting(owner, 2)
    expect(mailsTo(owner.human)[1]?.text).toContain('gets that\ninbox with all its mail')
  })

  it('share the throttle of mails with every plus tag of the human', async () => {
    const { username, human } = fresh()
    const tagged = (tag: number) => human.replace('@', `+${tag}@`)
    await signUp({ username, human })
    await codeOf(human, 1)
    await signUp({ username: `${username}-a`, human: tagged(1) })
    expect(mailsTo(tagged(1))).toEqual([])
    for (const tag of [2, 3, 4, 5, 6, 7]) {
      await gateway.db.query(ageMails, human)
      await signUp({ username: `${username}-${tag}`, human: tagged(tag) })
      if (tag < 6) await codeOf(tagged(tag), 1)
    }
    expect([2, 3, 4, 5, 6, 7].filter((tag) => mailsTo(tagged(tag)).length > 0)).toEqual([2, 3, 4, 5])
  })
})
