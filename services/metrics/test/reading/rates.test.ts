import { randomUUID } from 'node:crypto'
import { type InboxScope, inboxScope, waitFor } from '@restante/testkit'
import { type MetricsFixture, startMetrics, type View } from '../support/fixture.ts'
import { delivery, mail } from '../support/happenings.ts'

const HOUR = 3_600_000
/** Two days ago, at an odd millisecond. */
const BASE = Date.now() - 48 * HOUR - 7

let metrics: MetricsFixture
beforeAll(async () => {
  metrics = await startMetrics()
})
afterAll(() => metrics.stop())

const at = (ms: number) => new Date(BASE + ms)
const iso = (ms: number) => at(ms).toISOString()
const rates = (scope: InboxScope, query: Record<string, string>, view: View = 'organization') =>
  metrics.read('metrics.listRates', scope, view, query)

describe('rates', () => {
  let scope: InboxScope
  beforeAll(async () => {
    scope = inboxScope()
    await metrics.count(
      delivery(scope, 'delivery.handed_over', at(0), 40),
      delivery(scope, 'delivery.bounced', at(1), 2),
      delivery(scope, 'delivery.handed_over', at(HOUR), 60),
      delivery(scope, 'delivery.complained', at(HOUR + 1), 3),
    )
  })

  it('are shares of what was sent to recipients in the window that ends at each point', async () => {
    const query = { start: iso(0), end: iso(4 * HOUR), period: '3600', window: '7200' }
    expect(await rates(scope, query)).toEqual({
      // A window ends before its point: what happened at the point itself is in the next one.
      bounce: [
        { timestamp: iso(0), rate: null, sent: 0 },
        { timestamp: iso(HOUR), rate: 0.05, sent: 40 },
        { timestamp: iso(2 * HOUR), rate: 0.02, sent: 100 },
        { timestamp: iso(3 * HOUR), rate: 0, sent: 60 },
      ],
      complaint: [
        { timestamp: iso(0), rate: null, sent: 0 },
        { timestamp: iso(HOUR), rate: 0, sent: 40 },
        { timestamp: iso(2 * HOUR), rate: 0.03, sent: 100 },
        { timestamp: iso(3 * HOUR), rate: 0.05, sent: 60 },
      ],
    })
  })

  it('are null again when the window has left everything behind', async () => {
    const query = { start: iso(4 * HOUR), end: iso(5 * HOUR), period: '3600', window: '3600', rate_types: 'bounce' }
    expect(await rates(scope, query)).toEqual({ bounce: [{ timestamp: iso(4 * HOUR), rate: null, sent: 0 }] })
  })

  it('are of a day at each hour of a day, unless the query says otherwise', async () => {
    const { bounce, complaint } = await rates(scope, { end: iso(26 * HOUR) })
    expect([bounce?.length, complaint?.length]).toEqual([24, 24])
    expect(bounce?.[0]).toEqual({ timestamp: iso(2 * HOUR), rate: 0.02, sent: 100 })
    // One hour after the first mail its day is over.
    expect(bounce?.at(-1)).toEqual({ timestamp: iso(25 * HOUR), rate: 0, sent: 60 })
  })

  it('come in the chosen order, at most `limit` of them', async () => {
    const query = { start: iso(0), end: iso(4 * HOUR), window: '3600', rate_types: '["complaint"]', limit: '2' }
    const times = async (more: Record<string, string>) =>
      (await rates(scope, { ...query, ...more }))['complaint']?.map(({ timestamp }) => timestamp)
    expect(await times({})).toEqual([iso(0), iso(HOUR)])
    expect(await times({ descending: 'true' })).toEqual([iso(3 * HOUR), iso(2 * HOUR)])
  })

  it('are those of each scope', async () => {
    const organizationId = randomUUID()
    const [inbox, other] = [inboxScope({ organizationId, podId: randomUUID() }), inboxScope({ organizationId })]
    await metrics.count(
      delivery(inbox, 'delivery.handed_over', at(0), 10),
      delivery(inbox, 'delivery.bounced', at(0), 1),
      delivery(other, 'delivery.handed_over', at(0), 10),
    )
    const query = { start: iso(HOUR), end: iso(2 * HOUR), rate_types: 'bounce' }
    const rate = async (scope: InboxScope, view: View) => (await rates(scope, query, view))['bounce']?.[0]?.rate
    expect(await rate(inbox, 'inbox')).toBe(0.1)
    expect(await rate(inbox, 'pod')).toBe(0.1)
    expect(await rate(inbox, 'organization')).toBe(0.05)
    expect(await rate(other, 'inbox')).toBe(0)
  })

  it('count a fact although the public event about it, with the same id, is counted too', async () => {
    const scope = inboxScope()
    const [fact, told] = [delivery(scope, 'delivery.handed_over', at(0)), mail(scope, 'message.sent', at(0))]
    await metrics.count({ ...told, event: { ...told.event, id: fact.event.id } })
    await metrics.publish(fact)
    const query = { start: iso(HOUR), end: iso(2 * HOUR), rate_types: 'bounce' }
    await waitFor(async () => (await rates(scope, query))['bounce']?.[0]?.sent === 1, {
      what: 'the fact to be counted',
    })
    const range = { start: iso(0), end: iso(HOUR), event_types: 'message.sent' }
    expect((await metrics.read('metrics.listEvents', scope, 'inbox', range))['message.sent']).toHaveLength(1)
  })

  it('count what bounced without having left as sent', async () => {
    const bounced = inboxScope()
    await metrics.count(delivery(bounced, 'delivery.bounced', at(0), 4))
    const query = { start: iso(HOUR), end: iso(2 * HOUR) }
    const entry = (rate: number) => ({ timestamp: iso(HOUR), rate, sent: 4 })
    expect(await rates(bounced, query)).toEqual({ bounce: [entry(1)], complaint: [entry(0)] })
  })
})
