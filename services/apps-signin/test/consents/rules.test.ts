import { mustAsk, type RememberedConsent } from '../../src/consents/rules.ts'

const HASH = Buffer.from('the hash of an owner')
const REMEMBERED: RememberedConsent = {
  scopes: ['openid', 'email'],
  redirect_uri: 'https://app.example/callback',
  disclosure_version: 3,
  owner_hash: null,
  given_by: 'person',
  fresh: true,
}
const TRANSACTION = {
  scopes: ['openid', 'email'],
  redirect_uri: 'https://app.example/callback',
  prompt: null,
  consented_at: null,
} as const
const NATIVE = 'http://127.0.0.1:4000/back'

type Question = Parameters<typeof mustAsk>[0]
interface Case {
  readonly remembered?: Partial<RememberedConsent> | 'none'
  readonly transaction?: Partial<Question['transaction']>
  readonly version?: number
  readonly ownerHash?: Uint8Array
}

function ask({ remembered = {}, transaction = {}, version = 3, ownerHash }: Case): boolean {
  return mustAsk({
    transaction: { ...TRANSACTION, ...transaction },
    client: { disclosureVersion: version },
    ownerHash,
    remembered: remembered === 'none' ? undefined : { ...REMEMBERED, ...remembered },
  })
}

describe('a page that asks for consent', () => {
  it.each<[string, Case]>([
    ['at the first use', { remembered: 'none' }],
    ['180 days after the latest sign-in', { remembered: { fresh: false } }],
    ['after the app has written another disclosure', { version: 4 }],
    ['with prompt=consent', { transaction: { prompt: 'consent' } }],
    ['when the app asks for more', { transaction: { scopes: ['openid', 'email', 'profile'] } }],
    ['when the app asks for less', { transaction: { scopes: ['openid'] } }],
    ['when the app asks for something else', { transaction: { scopes: ['openid', 'profile'] } }],
    ['when an agent has accepted less', { remembered: { given_by: 'agent', scopes: ['openid'] } }],
    ['when it returns elsewhere', { transaction: { redirect_uri: 'https://app.example/other' } }],
    ['when no owner was shown before', { ownerHash: HASH }],
    ['when the owner is another one', { ownerHash: HASH, remembered: { owner_hash: Buffer.from('another') } }],
  ])('asks %s', (_, given) => {
    expect(ask(given)).toBe(true)
  })

  it.each<[string, Case]>([
    ['while nothing has changed', {}],
    ['of a sign-in that it was answered for', { remembered: 'none', transaction: { consented_at: new Date() } }],
    ['with prompt=consent once it was answered', { transaction: { prompt: 'consent', consented_at: new Date() } }],
    ['when an agent has accepted more', { remembered: { given_by: 'agent', scopes: ['openid', 'email', 'profile'] } }],
    ['when an agent has accepted whichever redirect URI', { remembered: { redirect_uri: null } }],
    ['when the scopes come in another order', { transaction: { scopes: ['email', 'openid'] } }],
    ['as long as the owner is the same', { ownerHash: HASH, remembered: { owner_hash: Buffer.from(HASH) } }],
    [
      'when only the port on loopback differs',
      {
        remembered: { redirect_uri: NATIVE },
        transaction: { redirect_uri: NATIVE.replace('4000', '5000') },
      },
    ],
  ])('does not ask %s', (_, given) => {
    expect(ask(given)).toBe(false)
  })
})
