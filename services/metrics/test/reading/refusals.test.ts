import { inboxScope } from '@restante/testkit'
import { type MetricsFixture, type MetricsOperation, startMetrics, viewer } from '../support/fixture.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]
const NOW = Date.now()
const ago = (ms: number) => new Date(NOW - ms).toISOString()
const justNow = (ms: number) => new Date(Date.now() - ms).toISOString()

let metrics: MetricsFixture
beforeAll(async () => {
  metrics = await startMetrics()
})
afterAll(() => metrics.stop())

const ask = (
  operation: MetricsOperation,
  query: Record<string, string>,
  view: 'organization' | 'inbox' = 'organization',
) => metrics.ask(operation, viewer(inboxScope(), view), query)

const ALL = ['metrics.listEvents', 'metrics.list', 'metrics.listUsage', 'metrics.listRates'] as const

describe.each(ALL)('%s refuses', (operation) => {
  it.each([
    { query: { limit: '0' }, path: ['limit'] },
    { query: { limit: '10001' }, path: ['limit'], message: 'Must be at most 10000' },
    { query: { limit: '1.5' }, path: ['limit'] },
    { query: { period: '0' }, path: ['period'] },
    { query: { period: '86401' }, path: ['period'], message: 'Must be at most 86400' },
    { query: { period: 'day' }, path: ['period'] },
    { query: { descending: 'yes' }, path: ['descending'] },
    { query: { start: '2026-10-01' }, path: ['start'] },
    { query: { end: '2026-10-01T00:00:00' }, path: ['end'] },
    { query: { start: ago(DAY), end: ago(2 * DAY) }, path: ['start'] },
    { query: { start: ago(DAY), end: ago(DAY) }, path: ['start'] },
    // `end` is clamped to now, so a range in the future is empty.
    { query: { start: ago(-DAY), end: ago(-2 * DAY) }, path: ['start'] },
  ])('$query', async ({ query, path, message }) => {
    const { status, refusal } = await ask(operation, query)
    expect({ status, refusal }).toMatchObject({
      status: 400,
      refusal: { code: 'validation_error', name: 'ValidationError', errors: [{ path, ...(message && { message }) }] },
    })
    expect(refusal?.message).toBe(refusal?.errors?.[0]?.message)
  })

  it.each([
    { query: { limit: '1' } },
    { query: { limit: '10000', period: '86400' } },
    { query: { limit: '', period: '', descending: '', start: '', end: '' } },
    { query: { start: ago(DAY).replace('Z', '+00:00'), unknown: 'x' } },
    { query: { descending: 'false', end: ago(-DAY) } },
    { query: { event_types: '[]', usage_types: ',', rate_types: '[""]' } },
  ])('nothing of $query', async ({ query }) => {
    expect(await ask(operation, query)).toMatchObject({ status: 200 })
  })
})

describe('names of types', () => {
  it.each([
    {
      operation: 'metrics.listEvents',
      query: { event_types: 'message.sent,message.opened' },
      path: ['event_types', 1],
    },
    { operation: 'metrics.listEvents', query: { event_types: 'calendar.event.created' }, path: ['event_types', 0] },
    { operation: 'metrics.list', query: { event_types: 'message.security.held' }, path: ['event_types', 0] },
    { operation: 'metrics.listUsage', query: { usage_types: '["storage"]' }, path: ['usage_types', 0] },
    { operation: 'metrics.listRates', query: { rate_types: 'bounce,open' }, path: ['rate_types', 1] },
  ] as const)('are refused in $query', async ({ operation, query, path }) => {
    expect(await ask(operation, query)).toMatchObject({
      status: 400,
      refusal: { code: 'validation_error', errors: [{ path }] },
    })
  })
})

const tooWide = (path: string) => ({
  status: 400,
  refusal: { code: 'query_range_too_wide', name: 'QueryRangeTooWideError', errors: [{ path: [path] }] },
})

describe('events', () => {
  it('reach back 90 days, and no range is wider', async () => {
    for (const end of [undefined, justNow(0), justNow(-HOUR)]) {
      const query = { start: justNow(90 * DAY), ...(end && { end }) }
      expect(await ask('metrics.listEvents', query)).toMatchObject({ status: 200 })
    }
    const past = { start: ago(90 * DAY + HOUR + 1), end: ago(HOUR) }
    expect(await ask('metrics.listEvents', past)).toMatchObject(tooWide('start'))
    expect(await ask('metrics.listEvents', { start: ago(90 * DAY + HOUR) })).toMatchObject(tooWide('start'))
    expect(await ask('metrics.listEvents', { start: ago(91 * DAY), end: ago(5 * DAY) })).toMatchObject({
      status: 400,
      refusal: { code: 'validation_error', errors: [{ path: ['start'] }] },
    })
    expect(await ask('metrics.listEvents', { start: ago(91 * DAY) })).toMatchObject(tooWide('start'))
  })

  it('take any number of periods', async () => {
    expect(await ask('metrics.listEvents', { start: ago(89 * DAY), period: '1' })).toMatchObject({ status: 200 })
  })
})

describe('usage', () => {
  it('has at most 1000 points', async () => {
    const range = { start: ago(2 * DAY), end: ago(2 * DAY - 1_000_000) }
    expect(await ask('metrics.listUsage', { ...range, period: '1' })).toMatchObject({ status: 200 })
    const wider = { ...range, start: ago(2 * DAY + 1) }
    expect(await ask('metrics.listUsage', { ...wider, period: '1' })).toMatchObject(tooWide('period'))
  })

  it('reaches back as far as is asked for', async () => {
    expect(await ask('metrics.listUsage', { start: ago(900 * DAY), period: '86400' })).toMatchObject({ status: 200 })
  })
})

describe('rates', () => {
  it.each([
    { query: { period: '59' }, path: ['period'] },
    { query: { window: '5000', period: '3600' }, path: ['window'] },
    { query: { window: '2592001' }, path: ['window'], message: 'Must be at most 2592000' },
    { query: { window: '2595600' }, path: ['window'], message: 'Must be at most 2592000' },
    { query: { period: '7000' }, path: ['window'] },
  ])('refuse $query', async ({ query, path, message }) => {
    expect(await ask('metrics.listRates', query)).toMatchObject({
      status: 400,
      refusal: { code: 'validation_error', errors: [{ path, ...(message && { message }) }] },
    })
  })

  it('have at most 1000 periods in range and window together', async () => {
    const range = { start: ago(2 * DAY), end: ago(2 * DAY - 900 * 60_000), period: '60' }
    expect(await ask('metrics.listRates', { ...range, window: '6000' })).toMatchObject({ status: 200 })
    expect(await ask('metrics.listRates', { ...range, window: '6060' })).toMatchObject(tooWide('period'))
  })

  it('reach back 90 days', async () => {
    const query = { end: ago(90 * DAY), start: ago(91 * DAY) }
    expect(await ask('metrics.listRates', query)).toMatchObject({
      status: 400,
      refusal: { code: 'validation_error', errors: [{ path: ['start'] }] },
    })
    const widest = { start: justNow(90 * DAY), period: '86400', window: '2592000' }
    expect(await ask('metrics.listRates', widest)).toMatchObject({ status: 200 })
  })
})
