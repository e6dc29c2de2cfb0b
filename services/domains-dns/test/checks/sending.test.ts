import { sql } from '@restante/service/database'
import { MailPeer, waitFor } from '@restante/testkit'
import { type Fixture, startFixture, tenant } from '../support/fixture.ts'
import { publish } from '../support/published.ts'

let fixture: Fixture
let host: MailPeer
const { owner } = tenant()

beforeAll(async () => {
  host = await new MailPeer().start()
  fixture = await startFixture({
    RETURN_PROBE: `127.0.0.1:${host.port}`,
    OUTBOUND_ADDRESSES: '192.0.2.25,2001:db8::25',
  })
  fixture.zone.set('spf.restante.test', { type: 'TXT', data: 'v=spf1 ip4:192.0.2.25 ip6:2001:db8::25 -all' })
})
afterAll(async () => {
  await fixture.stop()
  await host.stop()
})

const row = (name: string) => fixture.row(owner, name)
const verify = async (name: string) => (await fixture.call('domains.verify', owner, { domain: name })).status
const BEGIN_EARLIER = sql<never, [uid: string]>(
  "update domains set converging_since = converging_since - interval '72 hours' where uid = $1",
)
const MAKE_DUE = sql<never, [uid: string]>("update timers set due_at = now() where key = $1 and kind = 'domain-check'")

/** A registration whose records are published, and whose first check has ended. */
async function published(): Promise<string> {
  const { domain: name } = await fixture.register(owner)
  await waitFor(async () => (await row(name)).checks === 1, { what: 'the first check' })
  await publish(fixture, await row(name))
  return name
}

describe('a domain whose records are valid', () => {
  it('is verified when SPF passes and the host of returned mail accepts its return path', async () => {
    const name = await published()
    expect(await verify(name)).toBe(204)
    expect(await row(name)).toMatchObject({ status: 'VERIFIED', reason: null, sending_ready: true })
    expect(host.attempts).toContain(`postmaster@mail.${name}`)
  })

  it('is VERIFYING while that host does not answer, FAILED after 72 h, and VERIFIED once it does', async () => {
    const name = await published()
    host.answerRecipient(`postmaster@mail.${name}`, '451 4.3.0 later', '550 5.1.2 unknown', '550 5.1.2 unknown')
    await verify(name)
    expect(await row(name)).toMatchObject({ status: 'VERIFYING', reason: 'infra_mail_from_temporary_failure' })
    await verify(name)
    expect(await row(name)).toMatchObject({ status: 'VERIFYING', reason: 'infra_mail_from_pending' })
    const { uid } = await row(name)
    await fixture.db.query(BEGIN_EARLIER, uid)
    await fixture.db.query(MAKE_DUE, uid)
    await waitFor(async () => (await row(name)).status === 'FAILED', { what: 'the check to fail' })
    expect(await row(name)).toMatchObject({ reason: 'infra_mail_from_failed', sending_ready: false })
    await verify(name)
    expect(await row(name)).toMatchObject({ status: 'VERIFIED', reason: null })
  })

  it('is not started for DKIM when no key of the installation opens its key', async () => {
    const name = await published()
    await fixture.restart({ ENCRYPTION_KEY: 'another key of the stored secrets' })
    await verify(name)
    expect(await row(name)).toMatchObject({ status: 'VERIFYING', reason: 'infra_dkim_not_started' })
    await fixture.restart()
    await verify(name)
    expect((await row(name)).status).toBe('VERIFIED')
  })
})
