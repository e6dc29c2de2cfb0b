import { KeyRing } from '@restante/service/secrets'
import { queryRows, waitFor } from '@restante/testkit'
import { SigningKeys } from '../../src/keys/signing-keys.ts'
import { deleteEndedKeys, makeDueKey, publishedKeys } from '../../src/keys/store.ts'
import { type AppsSigninFixture, startAppsSignin } from '../support/fixture.ts'

const FIRST = 'the first key of stored secrets!'
const SECOND = 'the second key of stored secrets'

let fixture: AppsSigninFixture
const ring = new KeyRing({ current: FIRST, previous: [], purpose: 'signing keys' })

beforeAll(async () => {
  fixture = await startAppsSignin({ ENCRYPTION_KEY: FIRST })
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  await waitFor(async () => (await publishedKeys(fixture.db)).length > 0, { what: 'the first key' })
  await queryRows(fixture.db, 'delete from signing_keys')
})

const make = () => fixture.db.transaction((tx) => makeDueKey(tx, ring))
const kids = async () => (await publishedKeys(fixture.db)).map(({ kid }) => kid)
/** Lets time pass for all keys. */
const age = (time: string) =>
  queryRows(fixture.db, `update signing_keys set active_from = active_from - interval '${time}'`)

/** The key that signs now. */
async function signing(): Promise<string> {
  const sign = await new SigningKeys({ db: fixture.db, ring }).signer()
  const [header = ''] = (await sign({})).split('.')
  return JSON.parse(Buffer.from(header, 'base64url').toString()).kid
}

describe('the keys of ID tokens', () => {
  it('begin with one that signs at once, whichever of many processes makes it', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, make))
    expect(made.filter(Boolean)).toHaveLength(1)
    expect(await kids()).toEqual([await signing()])
  })

  it('are published a day before they sign, and a day after', async () => {
    await make()
    const first = await signing()
    await age('28 days 23 hours 59 minutes')
    expect(await make()).toBe(false)
    await age('1 minute')
    const made = await Promise.all(Array.from({ length: 10 }, make))
    expect(made.filter(Boolean)).toHaveLength(1)
    const [, second] = await kids()
    expect(await kids()).toEqual([first, second])
    await age('23 hours 59 minutes')
    expect(await signing()).toBe(first)
    await age('1 minute')
    expect(await signing()).toBe(second)
    await age('23 hours 59 minutes')
    expect(await kids()).toEqual([first, second])
    expect(await deleteEndedKeys(fixture.db)).toBe(0)
    await age('1 minute')
    expect(await kids()).toEqual([second])
    expect(await deleteEndedKeys(fixture.db)).toBe(1)
  })

  it('are published a day before they sign after an outage of the timer, too', async () => {
    await make()
    const first = await signing()
    await age('90 days')
    expect(await make()).toBe(true)
    expect(await kids()).toHaveLength(2)
    expect(await signing()).toBe(first)
  })

  it('are public without their private half, for an hour', async () => {
    await make()
    const response = await fetch(`${fixture.authBase}/v0/jwks.json`)
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600')
    const thumbprint = expect.stringMatching(/^[\w-]{43}$/)
    const key = { kty: 'EC', crv: 'P-256', x: thumbprint, y: thumbprint, use: 'sig', alg: 'ES256', kid: thumbprint }
    expect(await response.json()).toEqual({ keys: [key] })
  })

  it('are sealed again with a new encryption key, and sign without its predecessor then', async () => {
    await make()
    const kid = await signing()
    await fixture.restart({ ENCRYPTION_KEY: SECOND, PREVIOUS_ENCRYPTION_KEYS: FIRST })
    const second = new KeyRing({ current: SECOND, previous: [], purpose: 'signing keys' })
    await waitFor(
      async () => {
        const rows = await queryRows<{ sealed_with: string }>(fixture.db, 'select sealed_with from signing_keys')
        return rows.every(({ sealed_with }) => sealed_with === second.current)
      },
      { what: 'all keys to be sealed again' },
    )
    const sign = await new SigningKeys({ db: fixture.db, ring: second }).signer()
    expect(JSON.parse(Buffer.from((await sign({})).split('.')[0] ?? '', 'base64url').toString()).kid).toBe(kid)
    await expect(new SigningKeys({ db: fixture.db, ring }).signer()).rejects.toThrow(/PREVIOUS_ENCRYPTION_KEYS/)
    await fixture.restart()
  })
})
