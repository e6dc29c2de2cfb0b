import type { DomainReason, DomainStatus } from '@restante/contracts/vocabulary'
import type { SendingChecks } from '../../src/records/checks.ts'
import type { DomainRow } from '../../src/registrations/store.ts'
import { type Changes, changedRow } from '../../src/status/apply-changes.ts'
import { INSTALLATION } from '../support/published.ts'
import { ago, DAY, found, HOUR, later, MINUTE, NOW, PASSED, row, verified } from './rows.ts'

function changed(before: DomainRow, changes: Changes = {}, { isHeld = false, now = NOW } = {}): DomainRow {
  return changedRow(before, changes, { isHeld, installation: INSTALLATION, now })
}

const status = ({ status, reason }: DomainRow) => [status, reason]
const checked = (values: Partial<DomainRow>) => row({ checked_at: NOW, checks: 1, ...values })
const valid = (sending: SendingChecks, values: Partial<DomainRow> = {}) =>
  checked({ records: found(), sending_checks: sending, ...values })

describe('the status of a registration that is not verified', () => {
  it('is NOT_STARTED until DNS has answered once', () => {
    expect(status(changed(row({ checks: 3 })))).toEqual(['NOT_STARTED', 'dns_records_missing'])
  })

  it('is PENDING while a record is missing, also one that DNS has not answered for', () => {
    expect(status(changed(checked({ records: found({ dmarc: 'MISSING' }) })))).toEqual([
      'PENDING',
      'dns_records_missing',
    ])
    expect(status(changed(checked({ subdomains_enabled: true, records: found() })))).toEqual([
      'PENDING',
      'dns_records_missing',
    ])
  })

  it('is INVALID as soon as one record is invalid, whatever others are', () => {
    const records = found({ dkim: 'INVALID', spf: 'MISSING' })
    expect(status(changed(checked({ records })))).toEqual(['INVALID', 'dns_records_invalid'])
  })

  it.each<[string, SendingChecks, DomainReason]>([
    ['no check of sending was made', {}, 'infra_dkim_pending'],
    ['the key cannot be read', { dkim: 'not_started', mail_from: 'passed' }, 'infra_dkim_not_started'],
    ['DNS does not answer for the key', { dkim: 'unanswered', mail_from: 'passed' }, 'infra_dkim_temporary_failure'],
    ['the signature does not verify yet', { dkim: 'failed', mail_from: 'failed' }, 'infra_dkim_pending'],
    ['the return path was not checked', { dkim: 'passed' }, 'infra_mail_from_pending'],
    ['the return path does not pass yet', { dkim: 'passed', mail_from: 'failed' }, 'infra_mail_from_pending'],
    ['its host does not answer', { dkim: 'passed', mail_from: 'unanswered' }, 'infra_mail_from_temporary_failure'],
    ['it was not started', { dkim: 'passed', mail_from: 'not_started' }, 'infra_mail_from_not_started'],
  ])('is VERIFYING with all records valid while %s', (_, sending, reason) => {
    const after = changed(valid(sending))
    expect(status(after)).toEqual(['VERIFYING', reason])
    expect(after.converging_since).toEqual(NOW)
  })

  it.each<[string, SendingChecks, DomainReason]>([
    ['the signature', { dkim: 'failed', mail_from: 'passed' }, 'infra_dkim_failed'],
    ['the signature, without an answer,', { dkim: 'unanswered', mail_from: 'failed' }, 'infra_dkim_failed'],
    ['the return path', { dkim: 'passed', mail_from: 'unanswered' }, 'infra_mail_from_failed'],
  ])('is FAILED when %s has not passed for 72 h', (_, sending, reason) => {
    expect(status(changed(valid(sending, { converging_since: ago(72 * HOUR - 1) })))[0]).toBe('VERIFYING')
    expect(status(changed(valid(sending, { converging_since: ago(72 * HOUR) })))).toEqual(['FAILED', reason])
  })

  it('is VERIFYING again when the clocks begin anew', () => {
    const before = valid({ dkim: 'failed' }, { status: 'FAILED', converging_since: ago(5 * DAY) })
    expect(changed(before, { converging_since: null })).toMatchObject({ status: 'VERIFYING', converging_since: NOW })
  })

  it('is not verified for sending while the operator bars it, and until the certificate of its images is there', () => {
    expect(status(changed(valid(PASSED, { barred_at: ago(DAY) })))).toEqual([
      'FAILED',
      'infra_not_verified_for_sending',
    ])
    const tracking = { tracking_enabled: true, records: found({ tracking: 'VALID' }) }
    expect(status(changed(valid(PASSED, tracking)))).toEqual(['VERIFYING', 'infra_not_verified_for_sending'])
    const overdue = { ...tracking, converging_since: ago(72 * HOUR) }
    expect(status(changed(valid(PASSED, overdue)))).toEqual(['FAILED', 'infra_not_verified_for_sending'])
    expect(status(changed(valid(PASSED, { ...tracking, certified_until: later(DAY) })))).toEqual(['VERIFIED', null])
  })

  it('is FAILED while another organization holds proof of the name, and is computed again afterwards', () => {
    const lost = changed(valid(PASSED), {}, { isHeld: true })
    expect(lost).toMatchObject({ status: 'FAILED', reason: 'dns_records_invalid', lost_at: NOW, sending_ready: false })
    expect(changed(checked({ ...lost, records: found({ dkim: 'MISSING' }) }))).toMatchObject({
      status: 'PENDING',
      lost_at: NOW,
    })
    expect(changed(lost)).toMatchObject({ status: 'VERIFIED', lost_at: null })
  })

  it.each<[DomainStatus]>([['NOT_STARTED'], ['PENDING'], ['INVALID'], ['VERIFYING'], ['FAILED']])(
    'moves from %s to VERIFIED when all records are valid and the checks of sending pass',
    (from) => {
      expect(changed(valid(PASSED, { status: from }))).toMatchObject({
        status: 'VERIFIED',
        reason: null,
        verified_at: NOW,
        last_verified_at: NOW,
        sending_ready: true,
      })
    },
  )
})

describe('a verified registration', () => {
  const failing = (checks: number, since: number): Changes => ({
    records: found({ spf: 'MISSING' }),
    failing_checks: checks,
    failing_since: ago(since),
  })

  it('stays VERIFIED until 3 checks over 60 minutes have failed', () => {
    expect(changed(verified(), failing(2, 60 * MINUTE)).status).toBe('VERIFIED')
    expect(changed(verified(), failing(9, 60 * MINUTE - 1)).status).toBe('VERIFIED')
    expect(status(changed(verified(), failing(3, 60 * MINUTE)))).toEqual(['PENDING', 'dns_records_missing'])
    const wrong = { ...failing(3, HOUR), records: found({ spf: 'INVALID' }) }
    expect(status(changed(verified(), wrong))).toEqual(['INVALID', 'dns_records_invalid'])
  })

  it('shows the status of a failing record at once', () => {
    expect(changed(verified(), failing(1, 0)).records.spf?.status).toBe('MISSING')
  })

  it('begins the schedule of unverified ones when it falls', () => {
    expect(changed(verified(), failing(3, HOUR))).toMatchObject({
      scheduled_from: NOW,
      failing_checks: 0,
      failing_since: null,
      last_verified_at: NOW,
    })
  })

  it.each<[string, Changes]>([
    ['inbound', { inbound_enabled: true, records: found() }],
    ['subdomains', { subdomains_enabled: true }],
    ['tracking', { tracking_enabled: true }],
  ])('is PENDING when %s needs another record, and goes on sending', (name, changes) => {
    const { apex_mx: _, ...withoutInbound } = found()
    const before = name === 'inbound' ? verified({ inbound_enabled: false, records: withoutInbound }) : verified()
    const records = name === 'inbound' ? withoutInbound : before.records
    expect(changed(before, { ...changes, records })).toMatchObject({
      status: 'PENDING',
      reason: 'dns_records_missing',
      sending_ready: true,
    })
  })

  it('becomes verified again at once when the outstanding record is switched off', () => {
    const pending = changed(verified(), { tracking_enabled: true })
    expect(changed(pending, { tracking_enabled: false })).toMatchObject({ status: 'VERIFIED', reason: null })
  })

  it('forgets what was found of a record that it no longer needs', () => {
    const before = verified({ subdomains_enabled: true, records: found({ wildcard_mx: 'VALID' }) })
    expect(changed(before, { subdomains_enabled: false }).records).toEqual(found())
  })

  it('stays verified while its certificate is being renewed', () => {
    const before = verified({
      tracking_enabled: true,
      records: found({ tracking: 'VALID' }),
      certified_until: later(DAY),
    })
    expect(changed(before, { certified_until: null }).status).toBe('VERIFIED')
  })

  it('fails and stops sending at once when the operator bars it', () => {
    expect(changed(verified(), { barred_at: NOW })).toMatchObject({
      status: 'FAILED',
      reason: 'infra_not_verified_for_sending',
      sending_ready: false,
    })
  })
})

describe('the right to send', () => {
  it('needs a completed verification', () => {
    expect(changed(valid({ dkim: 'passed' })).sending_ready).toBe(false)
    expect(changed(valid(PASSED)).sending_ready).toBe(true)
  })

  it('ends when DKIM has failed for more than 72 h, and returns with it', () => {
    const fallen = { status: 'INVALID', records: found({ dkim: 'INVALID' }) } as const
    expect(changed(verified(fallen))).toMatchObject({ dkim_failing_since: NOW, sending_ready: true })
    expect(changed(verified({ ...fallen, dkim_failing_since: ago(72 * HOUR) })).sending_ready).toBe(true)
    const late = changed(verified({ ...fallen, dkim_failing_since: ago(72 * HOUR + 1) }))
    expect(late.sending_ready).toBe(false)
    expect(changed(late, { records: found({ spf: 'MISSING' }) })).toMatchObject({
      dkim_failing_since: null,
      sending_ready: true,
    })
  })

  it('is not affected by other records', () => {
    const fallen = { status: 'PENDING', records: found({ apex_mx: 'MISSING', dmarc: 'MISSING' }) } as const
    expect(changed(verified(fallen), {}, { now: later(10 * DAY) }).sending_ready).toBe(true)
  })
})
