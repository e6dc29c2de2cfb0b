import { waitFor } from '@restante/testkit'
import { register } from 'prom-client'
import { FakeAuthority, type OrderAnswer, problem } from './fake-authority.ts'
import { type Stage, startStage } from './stage.ts'

const MINUTE = 60_000

describe('an order that gives no certificate', () => {
  let authority: FakeAuthority
  let stage: Stage

  beforeAll(async () => {
    authority = await FakeAuthority.start()
    stage = await startStage({ ACME_DIRECTORY: authority.directory, ACME_CA_FILE: authority.caFile })
  })
  afterAll(async () => {
    await stage.stop()
    await authority.stop()
  })

  async function count(outcome: string): Promise<number> {
    const values = (await register.getSingleMetric('restante_certificate_orders_total')?.get())?.values ?? []
    return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0
  }

  /** @returns the one order of a new host, when it has ended. */
  async function ordered(answer: OrderAnswer) {
    authority.answer = answer
    authority.orders = 0
    const name = await stage.tracked()
    const order = await waitFor(async () => (await stage.orders(name)).find(({ outcome }) => outcome !== null), {
      what: 'the end of the order',
    })
    const dueAt = await waitFor(() => stage.dueAt(name), { what: 'the next attempt' })
    return { name, order, waits: dueAt.getTime() - Date.now() }
  }

  it('is repeated when the authority allows it, which limits rates', async () => {
    const before = await count('rate_limited')
    const answer = problem(429, 'rateLimited', 'too many certificates', { 'retry-after': '7200' })
    const { order, waits } = await ordered(answer)
    expect(order.outcome).toBe('rate_limited')
    expect(waits).toBeGreaterThan(119 * MINUTE)
    expect(waits).toBeLessThanOrEqual(120 * MINUTE)
    expect(authority.orders).toBe(1)
    expect(await count('rate_limited')).toBe(before + 1)
  })

  it.each<[string, string, OrderAnswer]>([
    ['refuses the host', 'refused', problem(400, 'rejectedIdentifier', 'not this one')],
    ['fails', 'unreachable', (response) => void response.writeHead(500).end('oops')],
    ['sends something else', 'unreachable', (response) => void response.writeHead(403).end('<html>')],
    ['hangs up', 'unreachable', (response) => void response.destroy()],
    ['sends too much', 'unreachable', (response) => void response.writeHead(201).end('x'.repeat(1024 * 1024))],
    ['redirects', 'unreachable', (response) => void response.writeHead(302, { location: '/elsewhere' }).end()],
  ])('is repeated after a minute when the authority %s', async (_title, outcome, answer) => {
    const { name, order, waits } = await ordered(answer)
    expect(order.outcome).toBe(outcome)
    expect(waits).toBeGreaterThan(MINUTE / 2)
    expect(waits).toBeLessThanOrEqual(MINUTE)
    expect(await stage.find(name)).toBeUndefined()
  })

  it('is the only one for a host, however often its check finds the record', async () => {
    const { name } = await ordered(problem(403, 'unauthorized', 'no'))
    for (let check = 0; check < 3; check++) await stage.want(name)
    await stage.hurry(name)
    await waitFor(async () => ((await stage.dueAt(name))?.getTime() ?? 0) > Date.now() + 1_000, {
      what: 'the next wait',
    })
    expect(authority.orders).toBe(1)
  })

  it.each([
    ['tracking is switched off', 'tracking_enabled = false'],
    ['another organization has proven the name', "status = 'FAILED', reason = 'dns_records_invalid'"],
    ['the record is gone', "records = '{}'"],
  ])('is not repeated after %s', async (_title, change) => {
    const { name } = await ordered(problem(403, 'unauthorized', 'no'))
    await stage.fixture.db.query({ text: `update domains set ${change} where name = $1` }, name)
    await stage.age(name)
    await waitFor(async () => (await stage.dueAt(name)) === undefined, { what: 'the end of the timer' })
    expect(await stage.orders(name)).toHaveLength(1)
  })

  it('is repeated for a registration that lost its name to a proof that has lapsed', async () => {
    const { name } = await ordered(problem(403, 'unauthorized', 'no'))
    await stage.fixture.db.query({ text: 'update domains set lost_at = now() where name = $1' }, name)
    await stage.age(name)
    await waitFor(async () => (await stage.orders(name)).length === 2, { what: 'the second order' })
  })
})
