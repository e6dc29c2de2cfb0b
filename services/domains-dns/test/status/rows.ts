import type { RecordStatus } from '@restante/contracts/vocabulary'
import type { RecordChecks } from '../../src/records/checks.ts'
import type { RecordKind } from '../../src/records/expected.ts'
import type { DomainRow } from '../../src/registrations/store.ts'

export const REQUIRED = ['apex_mx', 'return_mx', 'spf', 'dkim', 'dmarc'] as const satisfies readonly RecordKind[]

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const NOW = new Date('2026-12-01T12:00:00.000Z')
export const ago = (ms: number) => new Date(NOW.getTime() - ms)
export const later = (ms: number) => new Date(NOW.getTime() + ms)

/** Checks that found every required record valid, except some. */
export function found(except: Partial<Record<RecordKind, RecordStatus>> = {}): RecordChecks {
  return Object.fromEntries(
    [...new Set([...REQUIRED, ...Object.keys(except)])].map((kind) => [
      kind,
      {
        status: Object.hasOwn(except, kind) ? Reflect.get(except, kind) : 'VALID',
        found: [],
        checked_at: NOW.toISOString(),
      },
    ]),
  )
}

export const PASSED = { dkim: 'passed', mail_from: 'passed' } as const

/** A registration as creation leaves it. */
export function row(values: Partial<DomainRow> = {}): DomainRow {
  return {
    uid: '7ec5f5b4-5a4c-4d5a-8f6f-0a3d5b8f9c01',
    organization_id: '7ec5f5b4-5a4c-4d5a-8f6f-0a3d5b8f9c02',
    pod_id: null,
    name: 'example.test',
    client_id: null,
    inbound_enabled: true,
    subdomains_enabled: false,
    feedback_enabled: true,
    tracking_enabled: false,
    allow_conflicting_provider: false,
    status: 'NOT_STARTED',
    reason: 'dns_records_missing',
    records: {},
    sending_checks: {},
    sending_ready: false,
    dkim_failing_since: null,
    converging_since: null,
    failing_checks: 0,
    failing_since: null,
    verified_at: null,
    last_verified_at: null,
    lost_at: null,
    barred_at: null,
    certified_until: null,
    scheduled_from: ago(HOUR),
    checked_at: null,
    checks: 0,
    version: 1,
    created_at: ago(HOUR),
    updated_at: ago(HOUR),
    ...values,
  }
}

/** One that was found verified an hour ago. */
export function verified(values: Partial<DomainRow> = {}): DomainRow {
  return row({
    status: 'VERIFIED',
    reason: null,
    records: found(),
    sending_checks: PASSED,
    sending_ready: true,
    converging_since: ago(DAY),
    verified_at: ago(DAY),
    last_verified_at: ago(HOUR),
    checked_at: ago(HOUR),
    checks: 9,
    version: 4,
    ...values,
  })
}
