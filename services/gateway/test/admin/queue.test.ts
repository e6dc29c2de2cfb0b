import { randomUUID } from 'node:crypto'
import { EXIT } from '../../src/admin/program.ts'
import { startGateway, type TestGateway } from '../gateway.ts'
import { attemptOn } from './stores.ts'

const AT = '2026-11-22T01:46:01.654Z'
const ORGANIZATION = randomUUID()
const WAITING = { destination: 'busy.example', waiting: 12, running: 1, held: 0, oldest_at: AT, status: '4.2.0' }

describe('the operator’s commands on the outbound queue', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())
  beforeEach(() => {
    gateway.behind.queueCalls.length = 0
    gateway.behind.queueAnswers.length = 0
  })

  /** Runs `queue` with these words. `answer` is typed when a question is asked; undefined: no terminal. */
  const attempt = (words: readonly string[], answer?: string) => attemptOn(gateway, ['queue', ...words], answer)
  const answering = (...answers: Record<string, unknown>[]) => gateway.behind.queueAnswers.push(...answers)

  it('lists destinations as a table, or as documents, under the filters given', async () => {
    answering(
      { destinations: [WAITING] },
      { destinations: [{ ...WAITING, next_attempt_at: AT }] },
      { destinations: [] },
    )
    const words = [
      '--destination',
      'BÜCHER.example',
      '--organization',
      ORGANIZATION,
      '--older-than',
      AT,
      '--limit',
      '7',
    ]
    expect((await attempt(['list', ...words])).printed).toMatch(
      /^DESTINATION .*LAST STATUS\nbusy\.example +12 +1 +0 +2026-11-22 01:46 +- +4\.2\.0$/,
    )
    expect(gateway.behind.queueCalls).toEqual([
      {
        path: 'list',
        body: {
          destination: 'xn--bcher-kva.example',
          organization_id: ORGANIZATION,
          queued_before: AT,
          limit: 7,
        },
      },
    ])
    expect(JSON.parse((await attempt(['list', '--json'])).printed)).toEqual({ ...WAITING, next_attempt_at: AT })
    expect((await attempt(['list'])).printed).toBe('Nothing is waiting.')
  })

  it('shows a delivery', async () => {
    const id = randomUUID()
    const delivery = { delivery_id: id, message_id: '<1@a.test>', recipient: 'ann@b.test', destination: 'b.test' }
    const rest = { state: 'deferred', attempts: 3, held: true, queued_at: AT, updated_at: AT }
    answering({ deliveries: [{ ...delivery, ...rest }] }, { deliveries: [] })
    expect((await attempt(['show', id])).printed).toMatch(/recipient +ann@b\.test\nstate +deferred, held\n/)
    expect(await attempt(['show', id])).toMatchObject({ code: EXIT.refused, said: expect.stringContaining(id) })
  })

  it('retries and drops batch by batch, and names the operator', async () => {
    answering({ count: 5, more: true }, { count: 2, more: false }, { count: 1, more: false })
    expect((await attempt(['retry'])).printed).toContain(': 7.')
    expect((await attempt(['drop', '--destination', 'a.test', '--yes'])).printed).toBe('Bounced deliveries: 1.')
    expect(gateway.behind.queueCalls).toEqual([
      { path: 'retry', body: { operator: 'tester' } },
      { path: 'retry', body: { operator: 'tester' } },
      { path: 'drop', body: { destination: 'a.test', operator: 'tester' } },
    ])
  })

  it('drops nothing without a filter, without a terminal, or after another answer', async () => {
    expect(await attempt(['drop', '--yes'])).toMatchObject({ code: EXIT.refused })
    answering({ destinations: [WAITING] }, { destinations: [WAITING] })
    expect(await attempt(['drop', '--destination', 'busy.example'])).toMatchObject({
      code: EXIT.refused,
      said: expect.stringContaining('This bounces 12 deliveries to 1 destinations'),
    })
    expect(await attempt(['drop', '--destination', 'busy.example'], 'yes')).toMatchObject({ code: EXIT.refused })
    expect(gateway.behind.queueCalls.map(({ path }) => path)).toEqual(['list', 'list'])
  })

  it('holds, lists holds, and releases', async () => {
    const scope = { destination: 'a.test', organization_id: ORGANIZATION }
    const words = ['--destination', 'a.test', '--organization', ORGANIZATION]
    answering(
      { created: true },
      { created: false },
      { holds: [{ ...scope, operator: 'root', created_at: AT }] },
      { released: true },
      { released: false },
    )
    expect((await attempt(['hold', ...words])).printed).toContain('later too')
    expect((await attempt(['hold', ...words])).printed).toBe('Held already.')
    expect((await attempt(['holds'])).printed).toContain(`a.test       ${ORGANIZATION}  root`)
    expect((await attempt(['release', ...words])).printed).toBe('Released.')
    expect(await attempt(['release', ...words])).toMatchObject({ code: EXIT.refused })
    expect(gateway.behind.queueCalls[0]).toEqual({ path: 'hold', body: { ...scope, operator: 'tester' } })
  })

  it.each([
    ['a hold of everything', ['hold'], EXIT.refused],
    ['an organization that is no id', ['list', '--organization', 'acme'], EXIT.misused],
    ['a destination that is no domain', ['list', '--destination', 'a b'], EXIT.misused],
  ])('refuses %s before it asks mail-send', async (_what, words, code) => {
    expect((await attempt(words)).code).toBe(code)
    expect(gateway.behind.queueCalls).toEqual([])
  })

  it('says that mail-send does not answer', async () => {
    gateway.behind.down = true
    const { code, said } = await attempt(['list'])
    gateway.behind.down = false
    expect([code, said]).toEqual([EXIT.refused, 'The service cannot be asked: mail-send.listQueue answered 503'])
  })
})
