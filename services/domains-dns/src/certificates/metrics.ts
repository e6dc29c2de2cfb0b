import { type Queryable, sql } from '@restante/service/database'
import { Counter, Gauge } from 'prom-client'
import { FAILURE_REASONS } from './failures.ts'
import { WANTING } from './state/registrations.ts'

/** Orders of certificates by outcome: `issued`, or the reason of a failure. */
export const ordersTotal = new Counter({
  name: 'restante_certificate_orders_total',
  help: 'Orders of certificates of tracking hosts, by outcome',
  labelNames: ['outcome'],
})
for (const outcome of ['issued', ...FAILURE_REASONS]) ordersTotal.inc({ outcome }, 0)
export const revocationsTotal = new Counter({
  name: 'restante_certificate_revocations_total',
  help: 'Attempts to revoke certificates of tracking hosts, by outcome',
  labelNames: ['outcome'],
})
for (const outcome of ['revoked', 'skipped', ...FAILURE_REASONS]) revocationsTotal.inc({ outcome }, 0)
const certificates = new Gauge({
  name: 'restante_certificates',
  help: 'Tracking hosts by state: valid, due (to be renewed), missing (record there, no certificate), revoking',
  labelNames: ['state'],
})
const nearestExpiry = new Gauge({
  name: 'restante_certificate_nearest_expiry_seconds',
  help: 'Time until the first certificate of a tracking host expires; 0 when there is none',
})

interface States {
  readonly valid: number
  readonly due: number
  readonly missing: number
  readonly revoking: number
  readonly nearest: number | null
}

const READ = sql<States>(
  `select (select count(*)::int from tracking_certificates where not_after > now() and renew_at > now()) as valid,
          (select count(*)::int from tracking_certificates where renew_at <= now()) as due,
          (select count(distinct name)::int from domains where ${WANTING} and not exists (
               select 1 from tracking_certificates where tracking_certificates.name = domains.name)) as missing,
          (select count(*)::int from certificate_revocations) as revoking,
          (select extract(epoch from min(not_after) - now())::float8 from tracking_certificates) as nearest`,
)

/** Reads how many certificates are in which state. */
export async function observeCertificates(db: Queryable): Promise<void> {
  const [states] = await db.query(READ)
  if (!states) return
  for (const state of ['valid', 'due', 'missing', 'revoking'] as const) certificates.set({ state }, states[state])
  nearestExpiry.set(states.nearest ?? 0)
}
