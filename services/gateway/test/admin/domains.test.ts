import { EXIT } from '../../src/admin/program.ts'
import { startGateway, type TestGateway } from '../gateway.ts'
import { attemptOn } from './stores.ts'

const AT = '2026-11-22T01:46:01.654Z'
const UID = '0b1f6f0e-7a0f-4c0a-9f6a-4a3a7f5d2c11'

describe('the operator’s commands on domains', () => {
  let gateway: TestGateway
  let organization: string

  beforeAll(async () => {
    gateway = await startGateway()
    organization = (await gateway.organization()).id
  })
  afterAll(() => gateway.stop())
  beforeEach(() => {
    gateway.behind.queueCalls.length = 0
    gateway.behind.queueAnswers.length = 0
  })

  const listed = () => ({
    domain_uid: UID,
    organization_id: organization,
    domain: 'example.com',
    status: 'INVALID',
    reason: 'dns_records_invalid',
    sending_ready: false,
    checked_at: AT,
    created_at: AT,
  })
  const shown = () => ({
    ...listed(),
    checks: 3,
    next_check_at: AT,
    records: [
      {
        type: 'MX',
        name: 'example.com',
        value: 'mx.restante.test',
        status: 'INVALID',
        reason: 'value_mismatch',
        found: ['mx.other.test'],
        checked_at: AT,
      },
    ],
  })

  /** Runs `domains` with these words. */
  const attempt = (...words: string[]) => attemptOn(gateway, ['domains', ...words])
  const answering = (...answers: Record<string, unknown>[]) => gateway.behind.queueAnswers.push(...answers)

  it('list domains of all organizations as a table, or as documents, under the filters given', async () => {
    answering({ domains: [listed()] }, { domains: [listed()] }, { domains: [] })
    const words = ['list', '--organization', organization, '--status', 'invalid', '--barred', '--limit', '7']
    expect((await attempt(...words)).printed).toMatch(
      /^DOMAIN .*VERIFIED\nexample\.com +[0-9a-f-]{36} +INVALID +dns_records_invalid +no +2026-11-22 01:46 +-$/,
    )
    expect(gateway.behind.queueCalls).toEqual([
      { path: 'list', body: { organization_id: organization, status: 'INVALID', barred: true, limit: 7 } },
    ])
    expect(JSON.parse((await attempt('list', '--json')).printed)).toEqual(listed())
    expect((await attempt('list')).printed).toBe('No domains.')
  })

  it('page through a long list by name', async () => {
    answering({ domains: Array.from({ length: 200 }, listed) }, { domains: [] })
    await attempt('list', '--limit', '300')
    expect(gateway.behind.queueCalls[1]).toEqual({
      path: 'list',
      body: { limit: 100, after: { domain: 'example.com', domain_uid: UID } },
    })
  })

  it('show every registration of a name, with its records, what was found instead, and the next check', async () => {
    answering({ domains: [shown(), { ...shown(), barred_at: AT }] })
    const { printed } = await attempt('show', 'Example.com')
    expect(gateway.behind.queueCalls).toEqual([{ path: 'show', body: { domain: 'example.com' } }])
    expect(printed).toMatch(/next check +2026-11-22 01:46/)
    expect(printed).toMatch(/MX +example\.com +INVALID +value_mismatch +2026-11-22 01:46 +mx\.other\.test/)
    expect(printed).toMatch(/sends +barred/)
  })

  it('bar a domain and lift the bar, each with an entry in the audit log', async () => {
    for (const [command, barred, action] of [
      ['bar', true, 'domain.barred'],
      ['unbar', false, 'domain.unbarred'],
    ] as const) {
      answering({ domains: [shown()] }, { changed: true })
      const { code, printed } = await attempt(command, 'example.com')
      expect([code, printed]).toEqual([0, expect.stringMatching(/^Done: example\.com is/)])
      expect(gateway.behind.queueCalls.at(-1)).toEqual({
        path: 'bar',
        body: { domain_uid: UID, barred, operator: 'tester' },
      })
      const [entry] = await gateway.db.orm.auditEntry.findMany({
        where: { organizationId: organization, action },
      })
      expect(entry).toMatchObject({ actorKind: 'operator', details: { after: { domain: 'example.com' } } })
    }
  })

  it('write no entry for a bar that the owner of domains did not accept', async () => {
    const where = { organizationId: organization, action: 'domain.barred' }
    const before = await gateway.db.orm.auditEntry.count({ where })
    answering({ domains: [shown()] }, {})
    const { code, said } = await attempt('bar', 'example.com')
    expect([code, said]).toEqual([EXIT.refused, 'Domain example.com was not found.'])
    expect(await gateway.db.orm.auditEntry.count({ where })).toBe(before)
  })

  it('ask for the organization when several have registered the name', async () => {
    answering({ domains: [shown(), shown()] }, { domains: [shown()] }, { queued: true })
    expect(await attempt('check', 'example.com')).toMatchObject({
      code: EXIT.refused,
      said: expect.stringContaining('--organization'),
    })
    expect((await attempt('check', 'example.com', '--organization', organization)).printed).toMatch(/^Due now/)
    expect(gateway.behind.queueCalls.slice(1)).toEqual([
      { path: 'show', body: { domain: 'example.com', organization_id: organization } },
      { path: 'check', body: { domain_uid: UID, operator: 'tester' } },
    ])
  })

  it('show what DMARC reports say, and whether their sender was authenticated', async () => {
    const row = {
      ...{ day: '2026-11-21', reporter: 'receiver.test', authenticated: false, source_ip: '192.0.2.7' },
      ...{ disposition: 'reject', dkim: 'fail', spf: 'fail', messages: 12 },
    }
    answering({ domains: [shown()] }, { counts: [row], more: true })
    const { printed, said } = await attempt('dmarc', 'example.com', '--since', '2026-11-20T00:00:00Z', '--limit', '1')
    expect(printed).toMatch(/2026-11-21 +12 +192\.0\.2\.7 +reject +fail +fail +receiver\.test +not authenticated$/)
    expect(said).toContain('--limit')
    expect(gateway.behind.queueCalls[1]).toEqual({
      path: 'list',
      body: { domain_uid: UID, since: '2026-11-20', limit: 1 },
    })
  })

  it('refuse a name that is not registered, and an unknown status', async () => {
    answering({ domains: [] })
    expect(await attempt('show', 'example.com')).toMatchObject({
      code: EXIT.refused,
      said: 'Domain example.com was not found.',
    })
    expect((await attempt('list', '--status', 'odd')).code).toBe(EXIT.misused)
  })
})
