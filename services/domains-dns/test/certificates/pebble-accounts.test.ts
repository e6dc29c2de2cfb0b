import { sql } from '@restante/service/database'
import { describeAtFullLength, waitFor } from '@restante/testkit'
import { type CertifiedStage, startCertifiedStage } from './certified-stage.ts'

const ACCOUNTS = sql<{ private_key: Buffer; url: string | null }>('select private_key, url from acme_accounts')
const MISLAY = sql<unknown, [url: string]>('update acme_accounts set url = $1')
const KEY = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W'

describeAtFullLength({ programs: ['pebble'] }, 'the account at an authority that requires an external one', () => {
  let stage: CertifiedStage

  beforeAll(async () => {
    stage = await startCertifiedStage(
      { externalAccounts: { 'kid-1': KEY } },
      { ACME_EAB_KID: 'kid-1', ACME_EAB_HMAC_KEY: KEY, ACME_CONTACT: 'postmaster@restante.test' },
    )
  })
  afterAll(() => stage.stop())

  it('is one for all certificates, with a key that is stored sealed', async () => {
    const names = await Promise.all([stage.reachable(), stage.reachable(), stage.reachable()])
    await Promise.all(names.map((name) => stage.certified(name)))
    const accounts = await stage.fixture.db.query(ACCOUNTS)
    expect(accounts).toHaveLength(1)
    expect(accounts[0]?.private_key.includes('PRIVATE KEY')).toBe(false)
  })

  it('is registered again when the authority does not know it any more', async () => {
    const [account] = await stage.fixture.db.query(ACCOUNTS)
    await stage.fixture.db.query(MISLAY, `${stage.pebble.directory.replace(/dir$/, 'my-account/0')}`)
    await stage.certified(await stage.reachable())
    const [again] = await stage.fixture.db.query(ACCOUNTS)
    expect(again?.url).toBe(account?.url)
  })

  it('is refused with a wrong key, which an operator finds among the outcomes of orders', async () => {
    await stage.fixture.db.query(sql<unknown>('delete from acme_accounts'))
    await stage.fixture.restart({ ACME_EAB_HMAC_KEY: `${KEY.slice(0, -4)}AAAA` })
    const name = await stage.reachable()
    const outcome = await waitFor(async () => (await stage.orders(name))[0]?.outcome, {
      what: 'the outcome of the order',
    })
    expect(outcome).toBe('refused')
  })
})
