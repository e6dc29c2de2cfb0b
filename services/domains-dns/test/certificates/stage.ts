import { Schedule } from '@restante/jobs'
import { sql } from '@restante/service/database'
import { z } from 'zod'
import type { DomainTimers } from '../../src/timers/kinds.ts'
import { type Fixture, newName, startFixture, tenant } from '../support/fixture.ts'

const HURRY = sql<unknown, [name: string]>(
  "update timers set due_at = now() where kind = 'certificate' and key = $1 and lease_id is null",
)
const RENEW = sql<unknown, [name: string]>('update tracking_certificates set renew_at = now() where name = $1')
const STORED = sql<StoredCertificate, [name: string]>('select * from tracking_certificates where name = $1')
const AGE = sql<unknown, [name: string]>(
  "update certificate_orders set started_at = started_at - interval '2 days', retry_at = null where name = $1",
)
const DUE = sql<{ due_at: Date }, [name: string]>("select due_at from timers where kind = 'certificate' and key = $1")
const EXPIRE = sql<unknown, [name: string]>(
  'update tracking_certificates set not_after = now(), renew_at = now() where name = $1',
)
const ORDERS = sql<{ outcome: string | null; retry_at: Date | null }, [name: string]>(
  'select outcome, retry_at from certificate_orders where name = $1 order by started_at',
)

export interface StoredCertificate {
  readonly name: string
  readonly chain: string
  readonly private_key: Buffer
  readonly not_after: Date
}

const certified = z.object({
  certificate: z.object({ chain: z.string(), private_key: z.string(), not_after: z.iso.datetime() }).optional(),
})

export type FoundCertificate = NonNullable<z.output<typeof certified>['certificate']>

const schedule = new Schedule<DomainTimers>()

/** domains-dns with what tests of certificates ask of it. */
export interface Stage {
  readonly fixture: Fixture
  /** Registers a domain with tracking, whose record its first check finds. @returns its name. */
  tracked(caller?: ReturnType<typeof tenant>['owner'], name?: string): Promise<string>
  /** Has the next step about a host taken, as a check does that finds the record. */
  want(name: string): Promise<void>
  /** Makes the next step about a host due now. */
  hurry(name: string): Promise<void>
  /** Makes the orders of a host so old that the next one may be made, and due now. */
  age(name: string): Promise<void>
  /** When the next step about a host is taken. */
  dueAt(name: string): Promise<Date | undefined>
  /** Makes a certificate expire. */
  expire(name: string): Promise<void>
  /** Makes the renewal of a certificate due now. */
  renew(name: string): Promise<void>
  stored(name: string): Promise<StoredCertificate | undefined>
  orders(name: string): Promise<{ outcome: string | null; retry_at: Date | null }[]>
  /** The certificate as the edge gets it. */
  find(name: string): Promise<FoundCertificate | undefined>
  stop(): Promise<void>
}

/** @param variables environment of the service, such as the authority. */
export async function startStage(variables: Readonly<Record<string, string>>): Promise<Stage> {
  const fixture = await startFixture({ RETURN_PROBE: 'off', ...variables })
  const want = (name: string) =>
    fixture.db.transaction((tx) => schedule.scheduleIfMissing(tx, { kind: 'certificate', key: name, payload: {} }))
  return {
    fixture,
    want,
    async tracked(caller = tenant().owner, name = newName()) {
      fixture.zone.set(`link.${name}`, { type: 'CNAME', domain: 'track.restante.test' })
      await fixture.register(caller, { domain: name, tracking_enabled: true })
      return name
    },
    async hurry(name) {
      await fixture.db.query(HURRY, name)
    },
    async age(name) {
      await fixture.db.query(AGE, name)
      await fixture.db.query(HURRY, name)
    },
    dueAt: async (name) => (await fixture.db.query(DUE, name))[0]?.due_at,
    async expire(name) {
      await fixture.db.query(EXPIRE, name)
      await fixture.db.query(HURRY, name)
    },
    async renew(name) {
      await fixture.db.query(RENEW, name)
      await fixture.db.query(HURRY, name)
    },
    stored: async (name) => (await fixture.db.query(STORED, name))[0],
    orders: (name) => fixture.db.query(ORDERS, name),
    async find(name) {
      const { body } = await fixture.internal('domains-dns.findCertificate', 'gateway', { host: `link.${name}` })
      return certified.parse(body).certificate
    },
    stop: () => fixture.stop(),
  }
}
