import { randomUUID } from 'node:crypto'
import { decide } from '../../src/delivery/outcome/delivery.ts'
import { deferredBy, type Outcome, readReply, refusedBy } from '../../src/delivery/outcome/outcome.ts'
import { retryAt } from '../../src/delivery/outcome/retry-policy.ts'
import { SHARES, shareOf } from '../../src/timers/kinds.ts'

const POLICY = { firstMs: 60_000, longestMs: 4 * 3_600_000, giveUpAfterMs: 72 * 3_600_000 }
const ACCEPTED = new Date('2026-03-02T12:00:00Z')

describe('readReply', () => {
  it.each([
    ['250 2.0.0 Ok: queued as 12', 'delivered', '2.0.0'],
    ['250 ok', 'delivered', '2.0.0'],
    ['550 5.1.1 <a@b.example>: unknown', 'refused', '5.1.1'],
    ['550-5.7.26 not authenticated\n550 5.7.26 see our page', 'refused', '5.7.26'],
    ['554 go away', 'refused', '5.0.0'],
    ['421 4.7.0 too many connections', 'deferred', '4.7.0'],
    ['450 5.2.2 contradicts itself: the basic code decides', 'deferred', '4.0.0'],
    ['nonsense', 'deferred', '4.0.0'],
  ] as const)('reads %j as %s', (response, kind, status) => {
    expect(readReply(response, 'mx.b.example')).toMatchObject({ kind, verdict: { status, mta: 'mx.b.example' } })
  })

  it("keeps a foreign server's text on one line and within bounds", () => {
    const { verdict } = readReply(`550 5.0.0 a\u0000b\u0007c ${'x'.repeat(5_000)}`, 'mx.b.example')
    expect(verdict.text).toMatch(/^550 5\.0\.0 a b c x+$/)
    expect(verdict.text.length).toBeLessThanOrEqual(1_000)
  })
})

describe('retryAt', () => {
  const waits = (attempts: number, random = 0) =>
    (retryAt(POLICY, attempts, ACCEPTED, ACCEPTED, random)?.getTime() ?? 0) - ACCEPTED.getTime()

  it('doubles the wait up to the longest', () => {
    expect([1, 2, 3, 4].map((attempts) => waits(attempts))).toEqual([60_000, 120_000, 240_000, 480_000])
    expect(waits(30)).toBe(POLICY.longestMs)
  })

  it('spreads waits by up to a tenth', () => {
    expect(waits(1, 0.999)).toBeGreaterThan(65_000)
    expect(waits(1, 0.999)).toBeLessThanOrEqual(66_000)
  })

  it('ends when the next attempt would be after the window', () => {
    const late = new Date(ACCEPTED.getTime() + POLICY.giveUpAfterMs - 30_000)
    expect(retryAt(POLICY, 1, ACCEPTED, late, 0)).toBeUndefined()
  })
})

describe('decide', () => {
  const clock = { acceptedAt: ACCEPTED, now: ACCEPTED, random: 0 }
  const over = { ...clock, now: new Date(ACCEPTED.getTime() + POLICY.giveUpAfterMs) }
  const mta = 'mx.b.example'
  const recipient = 'ann@b.example'

  it.each([
    ['a refusal of the mailbox', refusedBy('5.1.1', 'no such user', mta), 'Permanent', 'NoEmail', 'at_once'],
    ['a null MX', refusedBy('5.1.10', 'null MX'), 'Permanent', 'NoEmail', 'at_once'],
    ['any other refusal', refusedBy('5.0.0', 'no', mta), 'Permanent', 'General', 'at_second'],
    ['words that say it is unknown', readReply('550 User unknown', mta), 'Permanent', 'NoEmail', 'at_once'],
    ['a full mailbox', refusedBy('5.2.2', 'full', mta), 'Transient', 'MailboxFull', 'never'],
    ['a message that is too large', refusedBy('5.3.4', 'too large', mta), 'Transient', 'MessageTooLarge', 'never'],
    ['a policy', refusedBy('5.7.1', 'no', mta), 'Transient', 'ContentRejected', 'never'],
  ])('bounces on %s', (_what, outcome, type, subType, suppress) => {
    expect(decide({ recipient, attempts: 1, delayed: false }, outcome, clock, POLICY)).toMatchObject({
      state: 'bounced',
      bounce: { type, subType, suppress },
    })
  })

  it.each<[string, Outcome, string]>([
    ['a full mailbox', readReply('452 4.2.2 full', mta), 'MailboxFull'],
    ['silence', deferredBy('4.4.1', 'no answer'), 'General'],
  ])('gives up on %s when the window is over, and suppresses no address', (_what, outcome, subType) => {
    expect(decide({ recipient, attempts: 9, delayed: true }, outcome, over, POLICY)).toMatchObject({
      state: 'bounced',
      bounce: { type: 'Transient', subType, suppress: 'never' },
    })
  })

  it('announces a delay once, after the first retry failed', () => {
    const announced = ([1, 2, 3] as const).map((attempts) => {
      const delivery = { recipient, attempts, delayed: attempts === 3 }
      const decision = decide(delivery, deferredBy('4.4.1', 'no'), clock, POLICY)
      return decision.state === 'deferred' && decision.announceDelay
    })
    expect(announced).toEqual([false, true, false])
  })
})

describe('the share of an organization', () => {
  it('is the same for all its mail, one of a few, and never that of the installation itself', () => {
    const ids = Array.from({ length: 5_000 }, () => randomUUID())
    const shares = new Set(ids.map((id) => shareOf(id)))
    expect(ids.map((id) => shareOf(id))).toEqual(ids.map((id) => shareOf(id)))
    expect(shares.size).toBe(SHARES - 1)
    expect(shares.has(shareOf(undefined))).toBe(false)
    expect(Math.max(...shares, shareOf(undefined))).toBeLessThan(SHARES)
  })
})
