import path from 'node:path'
import { sql } from '@restante/service/database'
import { byLength, ServiceProcess, waitFor, type ZoneRecord } from '@restante/testkit'
import { found } from '../status/rows.ts'
import { type Fixture, MX_HOST, startFixture } from '../support/fixture.ts'

const MAIN = path.resolve(import.meta.dirname, '../../src/main.ts')
const DOMAINS = byLength({ short: 150, long: 10_000 })
const PER_SECOND = byLength({ short: 250, long: 50 })
/** Of each domain: two MX and three TXT records. */
const QUERIES = 5
const KEY = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'
/** Whether the leases of the killed process are ended, instead of waiting 2 minutes until they run out. */
const ENDS_LEASES = byLength({ short: true, long: false })
/** Checks that a killed process leaves half done; ended leases are also those of the other one. */
const MOST_LOST = ENDS_LEASES ? 8 : 4
/**
 * By how much the pace may be exceeded on the whole, within a second, and within more. Timers fire late rather than early, so
 * that queries may come closer together than they were planned, on a busy machine those of a second: in the short form it
 * is seen on the whole only. Two paces would be twice as much.
 */
const MOST_OVER = byLength({ short: { ever: 1.5 }, long: { ever: 1.05, second: 1.2, longer: 1.05 } })
const SECONDS = (DOMAINS * QUERIES) / PER_SECOND

const SEED = sql<never, [domains: number, records: string, key: string]>(`
  with made as (
    insert into domains (uid, organization_id, name, inbound_enabled, subdomains_enabled, feedback_enabled,
      tracking_enabled, allow_conflicting_provider, status, reason, records, sending_ready, verified_at, last_verified_at,
      checked_at)
    select gen_random_uuid(), gen_random_uuid(), 'd' || number || '.example', true, false, true, false, false, 'VERIFIED',
      null, $2::jsonb, true, now(), now(), now()
    from generate_series(1, $1::int) as number
    returning uid
  ), keys as (
    insert into domain_keys (domain_uid, selector, public_key, private_key, sealed_with)
    select uid, 'svc1', $3, '', '' from made
  )
  insert into timers (id, kind, key, due_at, payload) select gen_random_uuid(), 'domain-check', uid::text, now(), '{}' from made`)

const CHECKED = sql<{ checked: number }>('select count(*)::int as checked from domains where checks > 0')
const CHECKS = sql<{ name: string; checks: number; status: string; next: number | null }>(`
  select name, checks, status, extract(epoch from due_at - now())::float8 as next
  from domains left join timers on key = uid::text and kind = 'domain-check'`)
const END_LEASES = sql<never>('update domains set checking_until = now() where checking_until is not null')
const END_TIMER_LEASES = sql<never>('update timers set leased_until = now() where leased_until is not null')

let fixture: Fixture
let replica: ServiceProcess

/** Every domain has published its records. */
function recordsAt(name: string): readonly ZoneRecord[] | undefined {
  if (/^d\d+\.example$/.test(name)) return [{ type: 'MX', exchange: MX_HOST, priority: 10 }]
  if (/^mail\.d\d+\.example$/.test(name))
    return [
      { type: 'MX', exchange: MX_HOST, priority: 10 },
      { type: 'TXT', data: 'v=spf1 include:spf.restante.test -all' },
    ]
  if (/^svc1\._domainkey\.d\d+\.example$/.test(name)) return [{ type: 'TXT', data: `v=DKIM1; k=rsa; p=${KEY}` }]
  return /^_dmarc\.d\d+\.example$/.test(name) ? [{ type: 'TXT', data: 'v=DMARC1; p=none' }] : undefined
}

beforeAll(async () => {
  fixture = await startFixture({ RETURN_PROBE: 'off', CHECK_QUERIES_PER_SECOND: String(PER_SECOND) })
  fixture.zone.rule(recordsAt)
  replica = await ServiceProcess.start(MAIN, fixture.env)
})
afterAll(async () => {
  await replica.kill()
  await fixture.stop()
})

/**
 * How often each domain was checked, as DNS has seen it: each check asks all of its questions once. A question alone may
 * come again, when its answer was late.
 */
function runs(): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const { name, type } of fixture.zone.questions) {
    const question = `${type} ${name}`
    times.set(question, (times.get(question) ?? 0) + 1)
  }
  const names = new Set([...times.keys()].map((question) => question.replace(/^.*?(d\d+\.example)$/, '$1')))
  return new Map([...names].map((name) => [name, Math.min(...questionsOf(name).map((each) => times.get(each) ?? 0))]))
}

function questionsOf(name: string): readonly string[] {
  return [`MX ${name}`, `MX mail.${name}`, `TXT mail.${name}`, `TXT svc1._domainkey.${name}`, `TXT _dmarc.${name}`]
}

/** The number of queries that DNS has got, as it grows. */
class Rate {
  readonly #samples: { at: number; queries: number }[] = []
  readonly #timer = setInterval(() => this.#sample(), 50)
  readonly #began = performance.now()

  #sample(): void {
    this.#samples.push({ at: performance.now(), queries: fixture.zone.questions.length })
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** The rate since it is measured, in queries per second. */
  average(): number {
    return fixture.zone.questions.length / ((performance.now() - this.#began) / 1_000)
  }

  /** The highest rate over any time of this length, in queries per second. */
  highest(ms: number): number {
    let highest = 0
    let first = 0
    for (const { at, queries } of this.#samples) {
      while (at - (this.#samples[first + 1]?.at ?? at) >= ms) first++
      const from = this.#samples[first]
      if (from && at - from.at >= ms) highest = Math.max(highest, (queries - from.queries) / ((at - from.at) / 1_000))
    }
    return highest
  }
}

describe(`${DOMAINS} domains that are due at once, on two replicas of which one is killed`, () => {
  it(
    'are each checked by one process at a time, within the pace, and go on after the kill',
    async () => {
      const rate = new Rate()
      await fixture.db.query(SEED, DOMAINS, JSON.stringify(found()), KEY)
      const checked = async (count: number) => ((await fixture.db.query(CHECKED))[0]?.checked ?? 0) >= count
      const timeout = SECONDS * 4_000 + 120_000
      await waitFor(() => checked(DOMAINS / 3), { what: 'a third to be checked', timeout, interval: 100 })
      expect(rate.average()).toBeLessThanOrEqual(PER_SECOND * MOST_OVER.ever)
      await replica.kill()
      expect(Math.max(...runs().values())).toBe(1)
      if (ENDS_LEASES) for (const statement of [END_LEASES, END_TIMER_LEASES]) await fixture.db.query(statement)
      await waitFor(() => checked(DOMAINS), { what: 'all to be checked', timeout, interval: 100 })
      expect(rate.average()).toBeLessThanOrEqual(PER_SECOND * MOST_OVER.ever)
      rate.stop()
      const { second = Infinity, longer = Infinity } = MOST_OVER
      expect(rate.highest(1_000)).toBeLessThanOrEqual(PER_SECOND * second)
      expect(rate.highest(10_000)).toBeLessThanOrEqual(PER_SECOND * longer)

      const seen = runs()
      const domains = await fixture.db.query(CHECKS)
      expect(domains.filter(({ name, checks }) => seen.get(name) !== checks).length).toBeLessThanOrEqual(MOST_LOST)
      expect(domains.filter(({ checks }) => checks > 1)).toEqual([])
      expect(new Set(domains.map(({ status }) => status))).toEqual(new Set(['VERIFIED']))
      expect(domains.filter(({ next }) => next === null || next < 5 * 3_600)).toEqual([])
    },
    SECONDS * 10_000 + 300_000,
  )
})
