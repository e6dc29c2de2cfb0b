import { DestinationHealth } from '../../../src/delivery/destinations/health.ts'
import { Pace } from '../../../src/delivery/destinations/pace.ts'
import { asksToSlowDown, Throttles } from '../../../src/delivery/destinations/throttles.ts'
import { deferredBy, readReply } from '../../../src/delivery/outcome/outcome.ts'

const TIMEOUT = deferredBy('4.4.1', 'No session: timed out')

describe('the health of a destination', () => {
  it('suspends what is due after a failure until its pause is over', () => {
    const health = new DestinationHealth(60_000)
    expect(health.suspension('dead.example')).toBeUndefined()
    health.unreached('dead.example', TIMEOUT, 0)
    const suspension = health.suspension('dead.example')
    if (suspension?.kind !== 'wait') throw new Error('not suspended')
    expect(suspension.until.getTime()).toBeGreaterThan(Date.now() + 60_000)
    expect(suspension.until.getTime()).toBeLessThan(Date.now() + 70_000)
    expect(health.suspension('alive.example')).toBeUndefined()
  })

  it('shares a failure with what was suspended before that attempt began, and with nothing else', () => {
    const health = new DestinationHealth(60_000)
    const now = Date.now()
    health.unreached('dead.example', TIMEOUT, 1_000)
    expect(health.suspension('dead.example', now - 2_000)).toMatchObject({
      kind: 'failed',
      outcome: {
        kind: 'deferred',
        verdict: { status: '4.4.1', text: expect.stringContaining('No session: timed out') },
      },
    })
    expect(health.suspension('dead.example', now - 500)).toMatchObject({ kind: 'wait' })
    expect(health.suspension('dead.example')).toMatchObject({ kind: 'wait' })
  })

  it('lets one attempt probe after the pause, and no second one beside it', () => {
    const health = new DestinationHealth(0)
    health.unreached('dead.example', TIMEOUT, 0)
    expect(health.suspension('dead.example')).toBeUndefined()
    const ended = health.begin('dead.example')
    expect(health.suspension('dead.example')).toMatchObject({ kind: 'wait' })
    ended()
    expect(health.suspension('dead.example')).toBeUndefined()
  })

  it('is fine again when a server has answered promptly', () => {
    const health = new DestinationHealth(60_000)
    health.unreached('dead.example', TIMEOUT, 0)
    health.answered('dead.example', true)
    expect([health.isSlow('dead.example'), health.suspension('dead.example')]).toEqual([false, undefined])
  })

  it('tries a destination that answers slowly, any number at a time', () => {
    const health = new DestinationHealth(60_000)
    health.unreached('slow.example', TIMEOUT, 0)
    health.answered('slow.example', false)
    health.begin('slow.example')
    expect([health.isSlow('slow.example'), health.suspension('slow.example')]).toEqual([true, undefined])
  })

  it('knows a bounded number of destinations', () => {
    const health = new DestinationHealth(60_000)
    for (let index = 0; index <= 20_000; index++) health.tooSlow(`d${index}.example`)
    expect([health.isSlow('d0.example'), health.isSlow('d1.example')]).toEqual([false, true])
  })
})

describe('the pace at a destination', () => {
  it('is unlimited by default', () => {
    const pace = new Pace(undefined)
    expect([pace.take('a.example', 1_000, 0), pace.take('a.example', 1_000, 0)]).toEqual([undefined, undefined])
  })

  it('spreads messages evenly, and gives each that is too early a time of its own', () => {
    const pace = new Pace(60)
    const takes = [1, 2, 3, 4].map(() => pace.take('a.example', 1, 10_000))
    expect(takes).toEqual([undefined, 11_000, 12_000, 13_000])
    expect(pace.take('b.example', 1, 10_000)).toBeUndefined()
    expect([11_000, 12_000, 13_000].map((now) => pace.take('a.example', 1, now))).toEqual(Array(3).fill(undefined))
  })

  it('counts every recipient of a message', () => {
    const pace = new Pace(60)
    expect(pace.take('a.example', 5, 0)).toBeUndefined()
    expect(pace.take('a.example', 1, 4_999)).toBe(5_000)
  })

  it('never exceeds the rate over a minute, however messages come', () => {
    const pace = new Pace(600)
    let sent = 0
    for (let now = 0; now < 60_000; now += 7) if (pace.take('a.example', 1, now) === undefined) sent++
    expect(sent).toBeGreaterThan(590)
    expect(sent).toBeLessThanOrEqual(610)
  })
})

describe('a server that asks to slow down', () => {
  it.each([
    ['421 4.3.2 too many connections', true],
    ['450 4.2.1 The user you are trying to contact is receiving mail at a rate that is too high', true],
    ['451 4.7.500 Server busy', true],
    ['421 4.7.28 unusual rate of unsolicited mail', true],
    ['452 4.2.2 mailbox full', false],
    ['550 5.7.1 rejected', false],
    ['250 2.0.0 ok', false],
  ])('says %j: %s', (reply, expected) => {
    expect(asksToSlowDown(readReply(reply, 'mx.example'))).toBe(expected)
  })

  it('is not one that was never reached', () => {
    expect(asksToSlowDown(deferredBy('4.7.5', 'No session: certificate expired'))).toBe(false)
  })

  it('gets one message at a time, and one more for each that it takes', () => {
    const throttles = new Throttles(4)
    const [busy, fine] = [readReply('421 4.7.0 slow down', 'mx.example'), readReply('250 ok', 'mx.example')]
    expect(throttles.limit('a.example')).toBe(4)
    throttles.learn('a.example', [fine, busy])
    expect([throttles.limit('a.example'), throttles.limit('b.example')]).toEqual([1, 4])
    throttles.learn('a.example', [fine])
    expect(throttles.limit('a.example')).toBe(2)
    throttles.learn('a.example', [fine, fine])
    expect(throttles.limit('a.example')).toBe(4)
  })
})
