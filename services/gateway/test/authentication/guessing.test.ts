import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { type Api, startGateway, type TestGateway } from '../gateway.ts'

const ageMails = sql<never, [mailbox: string]>(
  "update code_mails set created_at = created_at - interval '61 s' where human_email = $1",
)
const codes = sql<{ codes: number }, [organizationId: string]>(
  'select count(*)::int as codes from verification_codes where organization_id = $1',
)

let serial = 0
function fresh(): { username: string; human: string } {
  serial++
  return { username: `guessed${serial}`, human: `guessed${serial}@people.test` }
}

describe('guessing verification codes', () => {
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

  async function codeOf(human: string): Promise<string> {
    const mail = () => gateway.behind.systemMails.findLast(({ to }) => to === human)
    await waitFor(() => mail() !== undefined, { what: `the code mail to ${human}` })
    return /\b\d{6}\b/.exec(mail()?.text ?? '')?.[0] ?? ''
  }

  const enter = (api: Api, otp_code: string) => api.post('/v0/agent/verify', { otp_code })
  const attach = async (api: Api, human_email: string) =>
    expect((await api.post('/v0/agent/human', { human_email })).status).toBe(200)
  const tagged = (human: string, tag: number) => human.replace('@', `+${tag}@`)

  /** How many of eleven guesses were compared with a code. */
  async function compared(api: Api): Promise<number> {
    const answers = await Promise.all(Array.from({ length: 11 }, () => enter(api, '000000')))
    expect(answers.filter(({ status }) => status === 200)).toEqual([])
    return answers.filter(({ status }) => status === 400).length
  }

  it('422 when no code could be mailed, until the human is attached again', async () => {
    const { username, human } = fresh()
    await signUp({ username, human })
    const other = tagged(human, 1)
    const { api, id } = await signUp({ username: `${username}-b`, human: other })
    expect(await gateway.db.query(codes, id)).toEqual([{ codes: 0 }])
    const { status, body } = await enter(api, '000000')
    expect([status, body['code']]).toEqual([422, 'unprocessable'])
    expect(body['fix']).toContain('a minute has passed')
    await gateway.db.query(ageMails, human)
    await attach(api, other)
    expect((await enter(api, await codeOf(other))).status).toBe(200)
  })

  it('gains no attempts by replacing the human and back', async () => {
    const { username, human } = fresh()
    const { api } = await signUp({ username, human })
    expect(await compared(api)).toBe(10)
    await attach(api, fresh().human)
    await attach(api, human)
    expect(await compared(api)).toBe(0)
  })

  it('gains no attempts by removing the human and signing up again', async () => {
    const { username, human } = fresh()
    let guesses = 0
    for (const round of [1, 2, 3]) {
      const { api } = await signUp({ username: `${username}-${round}`, human })
      guesses += await compared(api)
      await attach(api, fresh().human)
    }
    expect(guesses).toBe(10)
  })

  it('is bounded by the five mails a day to a mailbox, whatever its plus tags', async () => {
    const { username, human } = fresh()
    let guesses = 0
    for (const tag of [1, 2, 3, 4, 5, 6, 7]) {
      const { api } = await signUp({ username: `${username}-${tag}`, human: tagged(human, tag) })
      guesses += await compared(api)
      await gateway.db.query(ageMails, human)
    }
    expect(guesses).toBe(50)
  })

  it("does not use up attempts of the human's own code", async () => {
    const { username, human } = fresh()
    const own = await signUp({ username, human })
    const code = await codeOf(human)
    await gateway.db.query(ageMails, human)
    const stranger = await signUp({ username: `${username}-s`, human: tagged(human, 1) })
    expect(await compared(stranger.api)).toBe(10)
    expect((await enter(own.api, code)).status).toBe(200)
  })
})
