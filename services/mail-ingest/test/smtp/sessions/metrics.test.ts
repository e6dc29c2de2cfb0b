import { sql } from '@restante/service/database'
import { Metrics, SmtpSession, waitFor } from '@restante/testkit'
import { measureInbound } from '../../../src/pipeline/queue/backlog.ts'
import { type Fixture, openFixture } from '../../fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ SMTP_PEER_CONNECTIONS: '2' })
})
afterAll(() => fixture.stop())

const read = () => Metrics.read(fixture.metricsUrl)
// Due tomorrow, so that the pipeline of the fixture leaves it.
const QUEUE = sql<never>(`
insert into inbound (id, lane, kind, recipient, blob, size, envelope, received_at, due_at)
select gen_random_uuid(), gen_random_uuid(), 'report', 'x', 'x', 1, '{"via":"internal","mail_from":""}',
       now() - n * interval '1 minute', now() + interval '1 day' from generate_series(1, 3) n`)

describe('the metrics of incoming mail', () => {
  it('begin with 0 for outcomes and codes that have not occurred, so that an increase shows the first one', async () => {
    const before = await read()
    expect(before.value('restante_smtp_mails_total', { outcome: 'failed' })).toBeDefined()
    expect(before.value('restante_smtp_answers_total', { code: '451' })).toBeDefined()
    expect(before.value('restante_smtp_sessions_total', { outcome: 'limited' })).toBeDefined()
  })

  it('count sessions, those beyond the limit of a client, and replies by code', async () => {
    const before = await read()
    const sessions = await Promise.all([1, 2].map(() => SmtpSession.open(fixture.smtpPort)))
    const refused = await SmtpSession.open(fixture.smtpPort)
    const [first] = sessions
    await first?.command('EHLO client.test')
    await first?.command('MAIL FROM:<ada@x.test>')
    expect((await first?.command(`RCPT TO:<nobody@${(await fixture.inbox()).address.split('@')[1]}>`))?.code).toBe(550)
    const after = await read()
    const grown = (name: string, labels: Record<string, string>) =>
      (after.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0)
    expect(grown('restante_smtp_sessions_total', { outcome: 'admitted' })).toBe(2)
    expect(grown('restante_smtp_sessions_total', { outcome: 'limited' })).toBe(1)
    expect(grown('restante_smtp_answers_total', { code: '220' })).toBe(2)
    expect(grown('restante_smtp_answers_total', { code: '550' })).toBe(1)
    expect(after.value('restante_smtp_connections')).toBe(2)
    for (const session of [...sessions, refused]) session.drop()
    await waitFor(async () => (await read()).value('restante_smtp_connections') === 0, { what: 'no connection' })
  })

  it('show how many accepted mails wait for the pipeline, and since when the oldest does', async () => {
    await measureInbound(fixture.db)
    expect((await read()).value('restante_mail_queue_waiting')).toBe(0)
    await fixture.db.query(QUEUE)
    await measureInbound(fixture.db)
    const metrics = await read()
    expect(metrics.value('restante_mail_queue_waiting')).toBe(3)
    expect(metrics.value('restante_mail_queue_oldest_seconds')).toBeGreaterThan(179)
  })
})
