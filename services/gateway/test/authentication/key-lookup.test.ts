import { randomBytes } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Queryable, Statement } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import { waitFor } from '@restante/testkit'
import { Secrets } from '../../src/credentials/secrets.ts'
import { KeyLookup } from '../../src/edge/authentication/key-lookup.ts'
import { startGateway, type TestGateway } from '../gateway.ts'

/** Queries to the database and their results. */
interface Question {
  readonly text: string
  readonly values: readonly unknown[]
  readonly rows: readonly object[]
}

/**
 * How long a refusal takes must not reveal how close a guess was. Times cannot be tested without occasional failures,
 * so this tests their cause: every guess computes the same hash, runs the same query, and compares nothing itself.
 */
describe('a guessed key', () => {
  let gateway: TestGateway
  let known: string
  let secrets: Secrets
  const guesses = new Map<string, string>()

  beforeAll(async () => {
    gateway = await startGateway()
    known = (await gateway.organization()).key
    secrets = new Secrets({ installationSecret: gateway.env['INSTALLATION_SECRET'] ?? '', region: 'us' })
    const other = (digit: string | undefined) => (digit === '0' ? '1' : '0')
    guesses.set('only the last digit is wrong', known.slice(0, -1) + other(known.at(-1)))
    guesses.set('only the first digit is wrong', known.slice(0, 6) + other(known[6]) + known.slice(7))
    guesses.set('only the shown prefix is right', known.slice(0, 14) + randomBytes(28).toString('hex'))
    guesses.set('nothing is right', `am_us_${randomBytes(32).toString('hex')}`)
    guesses.set('another region and length', `am_eu_${randomBytes(3).toString('hex')}`)
    guesses.set('a digit too many', `${known}0`)
    guesses.set('only the letter case is wrong', known.slice(0, 6) + known.slice(6).toUpperCase())
  })
  afterAll(() => gateway.stop())

  /** Looks a key up as the gateway does, and records the queries. */
  async function lookUp(token: string): Promise<{ questions: Question[]; refusal: unknown }> {
    const questions: Question[] = []
    const db: Queryable = {
      async query<Row, Values extends readonly unknown[]>(statement: Statement<Row, Values>, ...values: Values) {
        const rows = await gateway.db.query(statement, ...values)
        questions.push({
          text: statement.text,
          values,
          rows: rows.filter((row) => typeof row === 'object' && row !== null),
        })
        return rows
      },
    }
    const keys = new KeyLookup({ db, secrets, region: 'us', otherRegionUrl: undefined })
    const refusal = await keys.authenticate(token).then(
      () => undefined,
      (error: unknown) => (error instanceof ApiError ? { status: error.status, code: error.code } : error),
    )
    return { questions, refusal }
  }

  it('costs the same one query as a valid key, and gets no row to compare with', async () => {
    const right = await lookUp(known)
    expect(right.refusal).toBeUndefined()
    expect(right.questions).toHaveLength(1)
    for (const [what, guess] of guesses) {
      const { questions, refusal } = await lookUp(guess)
      expect([what, questions.map(({ text }) => text)]).toEqual([what, right.questions.map(({ text }) => text)])
      expect([what, questions.map(({ rows }) => rows)]).toEqual([what, [[]]])
      expect([what, refusal]).toEqual([what, { status: 401, code: 'unknown_api_key' }])
    }
  })

  it('leaves the process only as the keyed hash of the whole key', async () => {
    for (const token of [known, ...guesses.values()]) {
      const { questions } = await lookUp(token)
      expect(questions.map(({ values }) => values)).toEqual([[secrets.hash(token)]])
    }
    const elsewhere = new Secrets({ installationSecret: 'the secret of another installation', region: 'us' })
    expect(elsewhere.hash(known).equals(secrets.hash(known))).toBe(false)
  })

  it('is compared with neither secrets nor hashes in a found row', async () => {
    const { questions } = await lookUp(known)
    const hash = secrets.hash(known)
    const values = questions.flatMap(({ rows }) => rows.flatMap((row) => Object.values(row)))
    expect(values.length).toBeGreaterThan(0)
    const isPart = (value: unknown) => typeof value === 'string' && known.includes(value)
    expect(values.filter((value) => Buffer.isBuffer(value) || isPart(value))).toEqual([])
    expect(JSON.stringify(values)).not.toContain(hash.toString('hex'))
  })

  it('is refused with the same message, however close it was', async () => {
    const refusals: { readonly status: number; readonly body: object; readonly shown: object }[] = []
    for (const [what, guess] of guesses) {
      if (what === 'another region and length') continue
      const { status, headers, body } = await gateway.as(guess).get('/v0/auth/me')
      const shown = Object.fromEntries([...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'))
      refusals.push({ status, body, shown })
    }
    expect(refusals).toEqual(refusals.map(() => refusals[0]))
    expect(refusals[0]).toMatchObject({ status: 401, body: { code: 'unknown_api_key' } })
  })
})

describe('a key that was found', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  it('is looked up again after about a second, even when the clock is set back', async () => {
    let questions = 0
    const db: Queryable = {
      query(statement, ...values) {
        questions++
        return gateway.db.query(statement, ...values)
      },
    }
    const secrets = new Secrets({ installationSecret: gateway.env['INSTALLATION_SECRET'] ?? '', region: 'us' })
    const keys = new KeyLookup({ db, secrets, region: 'us', otherRegionUrl: undefined })
    const { key } = await gateway.organization()
    const now = Date.now
    const begun = performance.now()
    try {
      await keys.authenticate(key)
      Date.now = () => now() - 3_600_000
      const lookedUpAgain = async () => (await keys.authenticate(key)) && questions > 1
      await waitFor(lookedUpAgain, { what: 'the key to be looked up again' })
    } finally {
      Date.now = now
    }
    expect(performance.now() - begun).toBeGreaterThanOrEqual(LIMITS.apiKey.cache)
  })
})

describe('keys of a client that has sent too many bad ones', () => {
  let gateway: TestGateway
  let secrets: Secrets
  beforeAll(async () => {
    gateway = await startGateway()
    secrets = new Secrets({ installationSecret: gateway.env['INSTALLATION_SECRET'] ?? '', region: 'us' })
  })
  afterAll(() => gateway.stop())

  function counted(): { keys: KeyLookup; questions: () => number } {
    let questions = 0
    const db: Queryable = {
      query(statement, ...values) {
        questions++
        return gateway.db.query(statement, ...values)
      },
    }
    return { keys: new KeyLookup({ db, secrets, region: 'us', otherRegionUrl: undefined }), questions: () => questions }
  }
  const guess = () => `am_us_${randomBytes(32).toString('hex')}`
  const outcome = (asked: Promise<unknown>) =>
    asked.then(
      () => 'known',
      (error: unknown) => (error instanceof ApiError ? error.code : error),
    )

  it('are looked up together, so that bad ones cost no query of their own and a valid one still works', async () => {
    const { keys, questions } = counted()
    const { key } = await gateway.organization()
    const asked = [key, ...Array.from({ length: 150 }, guess)].map((token) => outcome(keys.authenticate(token, true)))
    expect(await Promise.all(asked)).toEqual(['known', ...Array(150).fill('unknown_api_key')])
    expect(questions()).toBe(1)
  })

  it('are refused without any query while too many wait', async () => {
    const { keys, questions } = counted()
    const asked = Array.from({ length: 5_000 }, () => outcome(keys.authenticate(guess(), true)))
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['unknown_api_key']))
    expect(questions()).toBe(1)
  })

  it('that were valid here before do not wait for them, and end when they are deleted', async () => {
    const { keys } = counted()
    const { id, key, api } = await gateway.organization()
    await keys.authenticate(key)
    const crowd = Array.from({ length: 1_000 }, () => outcome(keys.authenticate(guess(), true)))
    keys.forget(id)
    // Together with them it would exceed the limit.
    expect(await outcome(keys.authenticate(key, true))).toBe('known')
    await Promise.all(crowd)
    const me = await api.get('/v0/auth/me')
    await api.delete(`/v0/api-keys/${me.body['api_key_id']}`)
    keys.forget(id)
    expect(await outcome(keys.authenticate(key, true))).toBe('unknown_api_key')
  })
})
