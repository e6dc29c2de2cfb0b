import { OutboundNetworkError, OutboundUnavailableError } from '@restante/service/outbound'
import { failureOf } from '../../../src/delivery/rules/failure.ts'

const HOUR = 3_600_000

describe('trouble on this side', () => {
  const trouble = new OutboundUnavailableError('ESERVFAIL')

  it('is no failed attempt for as long as a delivery may be retried', () => {
    for (const hours of [0, 1, 27]) {
      const created = new Date(Date.now() - hours * HOUR)
      expect(() => failureOf(trouble, created)).toThrow(trouble)
    }
  })

  it('ends a delivery that has had its time, so that none is retried for ever', () => {
    expect(failureOf(trouble, new Date(Date.now() - 31 * HOUR))).toEqual({ error: 'network: ESERVFAIL', isLast: true })
  })

  it('is not an unknown name, which is a failed attempt at once', () => {
    expect(failureOf(new OutboundNetworkError('ENOTFOUND'), new Date())).toEqual({
      error: 'network: ENOTFOUND',
      isLast: false,
    })
  })
})
