import { createHash, randomBytes } from 'node:crypto'
import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { deleteSetups } from '../../src/setup/store.ts'
import { sweepSetups } from '../../src/setup/sweeper.ts'
import { tenant } from '../support/fixture.ts'
import { type SetupFixture, startSetup } from './support.ts'

let service: SetupFixture
beforeAll(async () => {
  service = await startSetup()
})
afterAll(() => service.stop())

interface Setup {
  readonly state_hash: Uint8Array
  readonly organization_id: string
  readonly credential_id: string
  readonly seconds: number
}
const SETUPS = sql<Setup>(
  `select state_hash, organization_id, credential_id, extract(epoch from expires_at - now())::float8 as seconds
     from domain_setups`,
)
const EXPIRE = sql<never>("update domain_setups set expires_at = now() - interval '1 second'")
const CLEAR = sql<never>('truncate domain_setups')
const { owner } = tenant()

beforeEach(() => service.db.query(CLEAR))

async function sent() {
  const domain = await service.domain(owner)
  const { url = '', state = '' } = await service.link(owner, domain)
  return { domain, url, state }
}
const complete = async (state: string) => {
  const { status, body } = await service.internal('domains-dns.completeSetup', 'gateway', { state })
  expect(status).toBe(200)
  return body
}

describe('the state of a setup link', () => {
  it('is stored as a hash for an hour, with the credential that asked for it', async () => {
    const { state } = await sent()
    const [setup, ...others] = await service.db.query(SETUPS)
    expect(others).toEqual([])
    expect(Buffer.from(setup?.state_hash ?? [])).toEqual(createHash('sha256').update(state).digest())
    expect(setup).toMatchObject({ organization_id: owner.organization_id, credential_id: owner.credential.id })
    expect(setup?.seconds).toBeGreaterThan(3_500)
    expect(setup?.seconds).toBeLessThanOrEqual(3_600)
  })

  it('counts once, and then has the records checked that the provider has published', async () => {
    const { domain, url, state } = await sent()
    await service.open(url)
    const answers = await Promise.all([complete(state), complete(state), complete(state)])
    expect(answers.filter(({ outcome }) => outcome === 'unknown')).toHaveLength(2)
    const [returned, ...others] = answers.filter(({ outcome }) => outcome === 'returned')
    expect([returned?.['domain'], others]).toEqual([domain, []])
    await waitFor(
      async () => {
        const { records } = await service.row(owner, domain)
        const kinds = ['apex_mx', 'return_mx', 'spf', 'dkim', 'dmarc'] as const
        return kinds.every((kind) => records[kind]?.status === 'VALID')
      },
      { what: 'the records to be found' },
    )
    expect(await complete(state)).toEqual({ outcome: 'unknown' })
  })

  it('has the domain checked once more, and starts its schedule anew', async () => {
    const { domain, state } = await sent()
    const checked = async () => (await service.row(owner, domain)).checks > 0
    await waitFor(checked, { what: 'the first check' })
    const before = await service.row(owner, domain)
    await complete(state)
    const after = await service.row(owner, domain)
    expect(after.scheduled_from.getTime()).toBeGreaterThan(before.scheduled_from.getTime())
    await waitFor(async () => (await service.row(owner, domain)).checks > before.checks, { what: 'the check' })
  })

  it('tells each record of the domain with what was found of it, and no value', async () => {
    const { domain, state } = await sent()
    expect(await complete(state)).toEqual({
      outcome: 'returned',
      domain,
      verified: false,
      records: [
        { type: 'MX', name: domain, status: 'MISSING' },
        { type: 'MX', name: `mail.${domain}`, status: 'MISSING' },
        { type: 'TXT', name: `mail.${domain}`, status: 'MISSING' },
        { type: 'TXT', name: `svc1._domainkey.${domain}`, status: 'MISSING' },
        { type: 'TXT', name: `_dmarc.${domain}`, status: 'MISSING' },
      ],
    })
  })

  it.each([
    ['altered', (state: string) => `${state.slice(0, -2)}${state.endsWith('AA') ? 'BB' : 'AA'}`],
    ['cut', (state: string) => state.slice(0, -1)],
    ['a random one', () => randomBytes(32).toString('base64url')],
    ['empty', () => ''],
    ['its hash', (state: string) => createHash('sha256').update(state).digest('base64url')],
  ])('is unknown when it is %s, and stays good', async (_, made) => {
    const { state } = await sent()
    expect(await complete(made(state))).toEqual({ outcome: 'unknown' })
    expect(await service.db.query(SETUPS)).toHaveLength(1)
  })

  it('is unknown after an hour, and then swept away', async () => {
    const { state } = await sent()
    await service.db.query(EXPIRE)
    const { state: later } = await sent()
    expect(await complete(state)).toEqual({ outcome: 'unknown' })
    await sweepSetups(service.db, new AbortController().signal)
    const kept = await service.db.query(SETUPS)
    expect(kept.map(({ state_hash }) => Buffer.from(state_hash))).toEqual([createHash('sha256').update(later).digest()])
  })

  it('tells that the domain was deleted since', async () => {
    const { domain, state } = await sent()
    expect((await service.call('domains.delete', owner, { domain })).status).toBe(204)
    expect(await complete(state)).toEqual({ outcome: 'deleted' })
    expect(await complete(state)).toEqual({ outcome: 'unknown' })
  })

  it('goes with its organization', async () => {
    const other = tenant().owner
    await service.link(other, await service.domain(other))
    await sent()
    await service.db.transaction((tx) => deleteSetups(tx, other.organization_id))
    const kept = await service.db.query(SETUPS)
    expect(kept.map(({ organization_id }) => organization_id)).toEqual([owner.organization_id])
  })

  it('is taken by the gateway only', async () => {
    const { state } = await sent()
    expect((await service.internal('domains-dns.completeSetup', 'mail-send', { state })).status).toBe(401)
    expect(await service.db.query(SETUPS)).toHaveLength(1)
  })
})
