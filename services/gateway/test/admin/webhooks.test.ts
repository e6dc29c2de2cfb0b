import { EXIT } from '../../src/admin/program.ts'
import { startGateway, type TestGateway } from '../gateway.ts'
import { attemptOn } from './stores.ts'

const AT = '2026-11-22T01:46:01.654Z'
const WEBHOOK = `ep_${'a'.repeat(27)}`
const DELIVERY = {
  delivery_id: `msg_${'b'.repeat(27)}`,
  webhook_id: WEBHOOK,
  event_id: '0b1f6f0e-7a0f-4c0a-9f6a-4a3a7f5d2c11',
  event_type: 'message.received',
  state: 'failed',
  attempts: [{ attempted_at: AT, latency_ms: 12, http_status: 500, error: 'status' }],
  created_at: AT,
}

describe('the operator’s commands on webhooks', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())
  beforeEach(() => {
    gateway.behind.queueCalls.length = 0
    gateway.behind.queueAnswers.length = 0
  })

  /** Runs `webhooks` with these words. */
  const attempt = (...words: string[]) => attemptOn(gateway, ['webhooks', ...words])
  const answering = (...answers: Record<string, unknown>[]) => gateway.behind.queueAnswers.push(...answers)

  it('show the log as a table, or as documents, under the filters given', async () => {
    answering({ deliveries: [DELIVERY] }, { deliveries: [DELIVERY] }, { deliveries: [] })
    const words = ['log', WEBHOOK, '--last', AT, '--state', 'failed', '--limit', '7']
    expect((await attempt(...words)).printed).toMatch(
      /^CREATED .*NEXT ATTEMPT\n2026-11-22 01:46 +msg_b+ +message\.received +failed +1 +2026-11-22 01:46 +500 +-$/,
    )
    expect(gateway.behind.queueCalls).toEqual([
      { path: 'list', body: { webhook_id: WEBHOOK, since: AT, state: 'failed', limit: 7 } },
    ])
    expect(JSON.parse((await attempt('log', WEBHOOK, '--json')).printed)).toEqual(DELIVERY)
    expect((await attempt('log', WEBHOOK)).printed).toBe('No deliveries.')
  })

  it('page through a long log', async () => {
    const page = Array.from({ length: 200 }, () => DELIVERY)
    answering({ deliveries: page }, { deliveries: [DELIVERY] })
    const { printed } = await attempt('log', WEBHOOK, '--limit', '201', '--json')
    expect(printed.split('\n')).toHaveLength(201)
    const after = { created_at: AT, delivery_id: DELIVERY.delivery_id }
    expect(gateway.behind.queueCalls.map(({ body }) => body)).toEqual([
      { webhook_id: WEBHOOK, limit: 200 },
      { webhook_id: WEBHOOK, limit: 1, after },
    ])
  })

  it('send one delivery again, and say why when it cannot be', async () => {
    answering(
      { delivery: { ...DELIVERY, state: 'retrying' } },
      { refused: 'The webhook is disabled. Enable it first.' },
    )
    expect((await attempt('replay', WEBHOOK, DELIVERY.delivery_id)).printed).toContain(
      `Due now: ${DELIVERY.delivery_id}`,
    )
    expect(await attempt('replay', WEBHOOK, DELIVERY.delivery_id)).toMatchObject({
      code: EXIT.refused,
      said: 'The webhook is disabled. Enable it first.',
    })
    expect(gateway.behind.queueCalls[0]).toEqual({
      path: 'replay',
      body: { webhook_id: WEBHOOK, delivery_id: DELIVERY.delivery_id, operator: 'tester' },
    })
  })

  it('send a time range again batch by batch, with progress', async () => {
    answering(
      { batch: { scanned: 1_000, matched: 10, queued: 9, pending: 1, next: 'mail.messages/1/7' } },
      { batch: { scanned: 5, matched: 2, queued: 2, pending: 0 } },
    )
    const { code, printed, said } = await attempt('replay-range', WEBHOOK, '--from', AT, '--to', '2026-11-22T02:00:00Z')
    expect([code, printed]).toEqual([
      EXIT.done,
      'Events of the webhook: 12, of which 1 are still pending. Sent again: 11.',
    ])
    expect(said.split('\n')).toEqual([
      '1000 events read, 10 of the webhook ...',
      '1005 events read, 12 of the webhook ...',
    ])
    const range = { webhook_id: WEBHOOK, from: AT, to: '2026-11-22T02:00:00.000Z', dry_run: false, operator: 'tester' }
    expect(gateway.behind.queueCalls).toEqual([
      { path: 'replay-range', body: range },
      { path: 'replay-range', body: { ...range, after: 'mail.messages/1/7' } },
    ])
  })

  it('count only in a dry run', async () => {
    answering({ batch: { scanned: 5, matched: 2, queued: 0, pending: 0 } })
    expect((await attempt('replay-range', WEBHOOK, '--from', '7d', '--dry-run')).printed).toContain('Nothing was sent')
    expect(gateway.behind.queueCalls[0]?.body).toMatchObject({ dry_run: true })
  })

  it('are refused before the dispatcher is asked', async () => {
    expect((await attempt('log', WEBHOOK, '--state', 'lost')).code).toBe(EXIT.misused)
    expect((await attempt('replay-range', WEBHOOK)).code).toBe(EXIT.misused)
    expect((await attempt('replay-range', WEBHOOK, '--from', '1h', '--to', '2h')).code).toBe(EXIT.refused)
    expect(gateway.behind.queueCalls).toEqual([])
  })

  it('say that a webhook is unknown', async () => {
    answering({})
    expect(await attempt('log', WEBHOOK)).toMatchObject({
      code: EXIT.refused,
      said: expect.stringContaining('not found'),
    })
  })
})
