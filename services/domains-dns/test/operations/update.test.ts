import type { Caller } from '@restante/contracts/access'
import { queryRows } from '@restante/testkit'
import { type Fixture, newName, startFixture, tenant } from '../support/fixture.ts'
import { withoutChecks } from '../support/without-checks.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await withoutChecks(await startFixture())
})
afterAll(() => fixture.stop())
afterEach(() => fixture.peers.reset())

const update = (caller: Caller, domain: string, body: unknown) =>
  fixture.call('domains.update', caller, { domain, body })

const VALID = { status: 'VALID', found: [], checked_at: '2026-11-01T00:00:00.000Z' }
const SENDING = { return_mx: VALID, spf: VALID, dkim: VALID, dmarc: VALID }

/** A domain that was found verified, with records of these kinds. */
async function verified(caller: Caller, body: Record<string, unknown> = {}): Promise<string> {
  const { domain } = await fixture.register(caller, body)
  const records = { ...SENDING, apex_mx: VALID, wildcard_mx: VALID, tracking: VALID }
  await queryRows(
    fixture.db,
    `update domains set status = 'VERIFIED', reason = null, verified_at = now(), last_verified_at = now(),
       checked_at = now(), sending_checks = '{"dkim":"passed","mail_from":"passed"}', sending_ready = true, records = $2, certified_until = now() + interval '60 days' where name = $1`,
    domain,
    JSON.stringify(records),
  )
  return domain
}

describe('an update of a domain', () => {
  it('changes what it names and nothing else', async () => {
    const { owner } = tenant()
    const { domain, updated_at } = await fixture.register(owner)
    const { status, body } = await update(owner, domain, { feedback_enabled: false })
    expect(status).toBe(200)
    expect(body).toMatchObject({ feedback_enabled: false, inbound_enabled: true, subdomains_enabled: false })
    expect(String(body['updated_at']) > updated_at).toBe(true)
  })

  it('has no effect, and leaves updated_at, when the values are the stored ones', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const before = (await fixture.call('domains.get', owner, { domain })).body
    const { version } = await fixture.row(owner, domain)
    const { status, body } = await update(owner, domain, {
      feedback_enabled: true,
      inbound_enabled: true,
      subdomains_enabled: false,
      tracking_enabled: false,
    })
    expect([status, body['updated_at']]).toEqual([200, before['updated_at']])
    expect((await fixture.row(owner, domain)).version).toBe(version)
  })

  it.each([{}, { unknown: true }, { client_id: 'a' }])('is 400 when it names nothing to change: %j', async (body) => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const answer = await update(owner, domain, body)
    expect([answer.status, answer.body['code']]).toEqual([400, 'validation_error'])
  })

  it('is 404 for a domain that is not there', async () => {
    expect((await update(tenant().owner, newName(), { feedback_enabled: false })).status).toBe(404)
  })

  it('publishes the state with a higher version', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const { uid } = await fixture.row(owner, domain)
    await update(owner, domain, { feedback_enabled: false })
    const record = await fixture.states.next(
      ({ key, value }) => key === uid && JSON.parse(value).feedback_enabled === false,
      { what: 'the state after the update' },
    )
    expect(JSON.parse(record.value).version).toBeGreaterThan(1)
  })

  it('keeps each of two concurrent changes of different members', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const changes = [{ feedback_enabled: false }, { subdomains_enabled: true }]
    const answers = await Promise.all(changes.map((body) => update(owner, domain, body)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const { body } = await fixture.call('domains.get', owner, { domain })
    expect(body).toMatchObject({ feedback_enabled: false, subdomains_enabled: true })
  })
})

describe('switching a part of a verified domain on', () => {
  it.each([
    ['inbound_enabled', { inbound_enabled: false }, 'MX', ''],
    ['subdomains_enabled', {}, 'MX', '*.'],
    ['tracking_enabled', {}, 'CNAME', 'link.'],
  ])('adds the missing record of %s, and sending goes on', async (member, made, type, prefix) => {
    const { owner } = tenant()
    const domain = await verified(owner, made)
    const { status, body } = await update(owner, domain, { [member]: true })
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'PENDING', reason: 'dns_records_missing' })
    expect(body['records']).toContainEqual(
      expect.objectContaining({ type, name: `${prefix}${domain}`, status: 'MISSING' }),
    )
    expect((await fixture.row(owner, domain)).sending_ready).toBe(true)
  })
})

describe('switching a part of a domain off', () => {
  it('takes its record away, and verifies a domain of which all else is valid', async () => {
    const { owner } = tenant()
    const domain = await verified(owner, { subdomains_enabled: true })
    await queryRows(
      fixture.db,
      `update domains set status = 'PENDING', reason = 'dns_records_missing', records = records - 'wildcard_mx' where name = $1`,
      domain,
    )
    const { body } = await update(owner, domain, { subdomains_enabled: false })
    expect(body['status']).toBe('VERIFIED')
    expect(JSON.stringify(body['records'])).not.toContain(`*.${domain}`)
  })

  it('is 422 for subdomains that have inboxes, whose number it names', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner, { subdomains_enabled: true })
    const own = await fixture.register(owner, { domain: `a.${domain}` })
    fixture.peers.answers['gateway.countInboxesOn'] = async () => ({ count: 3 })
    const { status, body } = await update(owner, domain, { subdomains_enabled: false })
    expect([status, body['code'], body['message']]).toEqual([
      422,
      'unprocessable',
      expect.stringContaining('3 inboxes'),
    ])
    expect(fixture.peers.requests('gateway.countInboxesOn')).toEqual([
      { organization_id: owner.organization_id, domain, itself: false, except: [own.domain] },
    ])
    fixture.peers.reset()
    expect((await update(owner, domain, { subdomains_enabled: false })).status).toBe(200)
  })
})

describe('an update is 422', () => {
  it('when inbound is switched on and a mailbox provider has the mail, unless the flag was stored', async () => {
    const { owner } = tenant()
    const flagged = { inbound_enabled: false, allow_conflicting_provider: true }
    const [plain, allowed] = [
      await fixture.register(owner, { inbound_enabled: false }),
      await fixture.register(owner, flagged),
    ]
    for (const { domain } of [plain, allowed]) {
      fixture.zone.set(domain, { type: 'MX', exchange: 'x.mail.protection.outlook.com', priority: 0 })
    }
    const { status, body } = await update(owner, plain.domain, { inbound_enabled: true })
    expect([status, body['message']]).toEqual([422, expect.stringContaining('Microsoft 365')])
    // The flag cannot be changed.
    expect(body['fix']).toContain(`delete ${plain.domain}`)
    expect((await update(owner, allowed.domain, { inbound_enabled: true })).status).toBe(200)
  })

  it('when tracking is switched on and inboxes are where its images would be served from', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    fixture.peers.answers['gateway.countInboxesOn'] = async () => ({ count: 1 })
    const { status, body } = await update(owner, domain, { tracking_enabled: true })
    expect([status, body['message']]).toEqual([422, expect.stringContaining('1 inbox is on link.')])
  })
})

describe('a domain that changes while an update is decided', () => {
  const change = (name: string) =>
    queryRows(fixture.db, 'update domains set version = version + 1 where name = $1', name)

  it('is decided about once more', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    let asked = 0
    fixture.peers.answers['gateway.countInboxesOn'] = async () => {
      if (asked++ === 0) await change(domain)
      return { count: 0 }
    }
    expect((await update(owner, domain, { tracking_enabled: true })).status).toBe(200)
    expect(asked).toBe(2)
  })

  it('is 409 race_condition when it changes again', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    fixture.peers.answers['gateway.countInboxesOn'] = async () => {
      await change(domain)
      return { count: 0 }
    }
    const { status, body } = await update(owner, domain, { tracking_enabled: true })
    expect([status, body['code']]).toEqual([409, 'race_condition'])
    expect((await fixture.row(owner, domain)).tracking_enabled).toBe(false)
  })

  it('is 404 when it is deleted meanwhile', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    fixture.peers.answers['gateway.countInboxesOn'] = async () => {
      await fixture.call('domains.delete', owner, { domain })
      return { count: 0 }
    }
    expect((await update(owner, domain, { tracking_enabled: true })).status).toBe(404)
  })
})

describe('an installation without a host for images', () => {
  it('is 422 for a domain with tracking, created or updated', async () => {
    const { owner } = tenant()
    const { TRACKING_HOST: _, ...env } = fixture.env
    const { domain } = await fixture.register(owner)
    await fixture.restart({ ...env, TRACKING_HOST: '' })
    const created = await fixture.call('domains.create', owner, { body: { domain: newName(), tracking_enabled: true } })
    const updated = await update(owner, domain, { tracking_enabled: true })
    expect([created, updated].map(({ status, body }) => [status, body['message']])).toEqual([
      [422, 'This installation does not track opening'],
      [422, 'This installation does not track opening'],
    ])
    await fixture.restart()
  })
})
