import {
  type HostState,
  nextOrderAt,
  nextStep,
  type PastOrder,
  renewalAt,
  roomAt,
} from '../../src/certificates/rules/schedule.ts'

const NOW = new Date('2026-11-24T12:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const ago = (ms: number) => new Date(NOW.getTime() - ms)
const ahead = (ms: number) => new Date(NOW.getTime() + ms)
const order = (ms: number, outcome: string | null = 'challenge_failed', retryAt: Date | null = null): PastOrder => ({
  started_at: ago(ms),
  outcome,
  retry_at: retryAt,
})

describe('the next order of a certificate', () => {
  it('may be made at once for a host that never had one', () => {
    expect(nextOrderAt([]).getTime()).toBeLessThanOrEqual(NOW.getTime())
  })

  it.each([
    [1, MINUTE],
    [2, 2 * MINUTE],
    [3, 4 * MINUTE],
    [4, 8 * MINUTE],
    [12, DAY],
    [30, DAY],
  ])('waits after %d failures in a row', (failures, wait) => {
    // Days apart, so that the limit per hour decides nothing.
    const orders = Array.from({ length: failures }, (_, index) => order(index * DAY))
    expect(nextOrderAt(orders)).toEqual(ahead(wait))
  })

  it('begins its waits anew after a certificate was issued', () => {
    const orders = [order(0), order(DAY, 'issued'), order(DAY + 1), order(DAY + 2), order(DAY + 3)]
    expect(nextOrderAt(orders)).toEqual(ahead(MINUTE))
  })

  it('is the sixth failure of an hour never', () => {
    const orders = [0, 10, 20, 30, 40].map((minutes) => order(minutes * MINUTE))
    expect(nextOrderAt(orders)).toEqual(ahead(20 * MINUTE))
    const mixed = [order(50 * MINUTE, 'issued'), ...[51, 52, 53, 54, 55].map((minutes) => order(minutes * MINUTE))]
    expect(nextOrderAt(mixed)).toEqual(ahead(5 * MINUTE))
  })

  it('is the sixth certificate of a week never', () => {
    const orders = [1, 2, 3, 4, 5].map((days) => order(days * DAY, 'issued'))
    expect(nextOrderAt(orders)).toEqual(ahead(2 * DAY))
    expect(nextOrderAt(orders.slice(1)).getTime()).toBeLessThanOrEqual(NOW.getTime())
  })

  it('waits as long as the authority says', () => {
    expect(nextOrderAt([order(0, 'rate_limited', ahead(3 * HOUR))])).toEqual(ahead(3 * HOUR))
  })

  it('counts an order whose process has died as failed', () => {
    expect(nextOrderAt([order(0, null)])).toEqual(ahead(MINUTE))
  })
})

describe('the room for an order of the installation', () => {
  it('is there at once while an hour is not filled, and an hour after the order that fills it, up to half an hour later', () => {
    expect(roomAt(undefined)).toBeUndefined()
    expect(roomAt(ago(20 * MINUTE), 0)).toEqual(ahead(40 * MINUTE))
    expect(roomAt(ago(20 * MINUTE), 1)).toEqual(ahead(70 * MINUTE))
  })
})

describe('the renewal of a certificate', () => {
  it('is due with a third of its lifetime left, and up to a thirtieth earlier', () => {
    const [from, until] = [NOW, ahead(90 * DAY)]
    expect(renewalAt(from, until, 0)).toEqual(ahead(60 * DAY))
    expect(renewalAt(from, until, 1)).toEqual(ahead(57 * DAY))
  })
})

describe('the next step for a tracking host', () => {
  const none: HostState = { wanting: 0, keeping: 0, certificate: undefined, orders: [], roomAt: undefined }
  const certificate = { not_after: ahead(90 * DAY), renew_at: ahead(60 * DAY) }
  const due = { not_after: ahead(20 * DAY), renew_at: ago(DAY) }
  const wanted = { wanting: 1, keeping: 1 }
  const kept = { wanting: 0, keeping: 1 }
  const failing = [order(0)]

  it.each<[string, Partial<HostState>, object]>([
    ['ends without registrations', {}, { kind: 'end' }],
    ['ends while the record is missing', kept, { kind: 'end' }],
    ['is an order where the record is there', wanted, { kind: 'order' }],
    ['waits after a failure', { ...wanted, orders: failing }, { kind: 'wait', until: ahead(MINUTE) }],
    ['waits for room beside other hosts', { ...wanted, roomAt: ahead(HOUR) }, { kind: 'wait', until: ahead(HOUR) }],
    ['is an order when there is room again', { ...wanted, roomAt: NOW }, { kind: 'order' }],
    ['waits for the renewal', { ...wanted, certificate }, { kind: 'wait', until: certificate.renew_at }],
    ['is an order when the renewal is due', { ...wanted, certificate: due }, { kind: 'order' }],
    ['drops what no registration needs', { certificate }, { kind: 'drop' }],
    ['keeps it while the record is missing', { ...kept, certificate: due }, { kind: 'wait', until: ahead(DAY) }],
    ['removes what has expired', { ...wanted, certificate: { ...due, not_after: NOW } }, { kind: 'expire' }],
    [
      'looks at a certificate that expires before the next order',
      { ...wanted, certificate: { ...due, not_after: ahead(1) }, orders: failing },
      { kind: 'wait', until: ahead(1) },
    ],
  ])('%s', (_title, state, step) => {
    expect(nextStep({ ...none, ...state }, NOW)).toEqual(step)
  })
})
