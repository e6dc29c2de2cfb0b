import { KeyRing } from '@restante/service/secrets'
import { queryRows, waitFor } from '@restante/testkit'
import { FakeAuthority } from './fake-authority.ts'
import { type Stage, startStage } from './stage.ts'

const FIRST = 'the first key of stored secrets'
const SECOND = 'the second key of stored secrets'

describe('the key of the account at an authority', () => {
  let authority: FakeAuthority
  let stage: Stage

  beforeAll(async () => {
    authority = await FakeAuthority.start()
    const variables = { ACME_DIRECTORY: authority.directory, ACME_CA_FILE: authority.caFile }
    stage = await startStage({ ...variables, ENCRYPTION_KEY: FIRST })
  })
  afterAll(async () => {
    await stage.stop()
    await authority.stop()
  })

  /** How the order of a new host ends; the authority refuses every order that reaches it. */
  async function outcomeOfOrder() {
    const name = await stage.tracked()
    const ended = async () => (await stage.orders(name))[0]?.outcome ?? undefined
    return waitFor(ended, { what: 'the end of the order' })
  }

  it('is sealed with the next encryption key before it is used, so that the earlier one can be removed', async () => {
    expect(await outcomeOfOrder()).toBe('refused')
    await stage.fixture.restart({ ENCRYPTION_KEY: SECOND, PREVIOUS_ENCRYPTION_KEYS: FIRST })
    const { current } = new KeyRing({ current: SECOND, previous: [], purpose: 'any' })
    const sealedWith = () => queryRows<{ sealed_with: string }>(stage.fixture.db, 'select * from acme_accounts')
    await waitFor(async () => (await sealedWith()).every(({ sealed_with }) => sealed_with === current), {
      what: 'the account to be sealed with the new key',
    })
    await stage.fixture.restart({ ENCRYPTION_KEY: SECOND })
    expect(await outcomeOfOrder()).toBe('refused')
  })

  it('is told as the reason of failed orders when no encryption key opens it', async () => {
    await stage.fixture.restart({ ENCRYPTION_KEY: 'a key that has sealed nothing' })
    expect(await outcomeOfOrder()).toBe('key_unreadable')
  })
})
